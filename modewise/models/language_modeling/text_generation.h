#pragma once
// Text from a language model, token by token through its caches.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/models/language_modeling/sampling.h"
#include "modewise/ops/attention/cache_size.h"
#include "modewise/text/tokenizer.h"

namespace modewise::models {

struct GenerationConfig {
  int64_t tokens = 256;  // at most
  SamplingConfig sampling = {};
  bool stop_at_eos = true;           // end where the model writes the tokenizer's begin or end mark
  std::vector<std::string> stop = {};  // end before any of these texts
  int64_t prompt_chunk = 512;          // tokens of the prompt taken at a time
};

struct Generation {
  std::vector<text::Tokenizer::Id> prompt, ids;  // with the begin mark; what was generated, marks included
  std::string text;                              // generated, without the stop text
  std::string stopped_by;                        // tokens | mark | stop text | caller
  double prompt_seconds = 0, seconds = 0;        // of reading the prompt, of generating
  int64_t cache_bytes = 0;                       // of all layers at the end
};

/// What can be shown of the text; characters come whole. false ends the generation.
using ShowText = std::function<bool(std::string_view)>;

/// Continues `prompt` (any bytes). The model is put into evaluation. Errors: an empty prompt for a tokenizer
/// without a begin mark (usage), a token outside of the model's vocabulary (data), a text whose caches exceed
/// the memory that is free (general).
Generation generate_text(LanguageModel& model, std::shared_ptr<const text::Tokenizer> tokenizer,
                         std::string_view prompt, const GenerationConfig& config, const ShowText& show = {});

/// Bytes of the caches of all layers.
ops::CacheBytes cache_bytes(const LanguageModelConfig& config, const ops::CachedText& text);

}  // namespace modewise::models
