#pragma once
// Text generation with a language model: incremental decoding through key-value caches.

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
  int64_t tokens = 256;  // maximum number of new tokens
  SamplingConfig sampling = {};
  bool stop_at_eos = true;             // stop at an end id
  std::vector<int64_t> end_ids = {};   // empty: the tokenizer's EOS and BOS tokens
  std::vector<std::string> stop = {};  // stop sequences: end before any of them
  int64_t prompt_chunk = 512;          // prompt tokens per forward pass
};

struct Generation {
  std::vector<text::Tokenizer::Id> prompt,
      ids;                                 // prompt with its BOS; generated ids, special tokens included
  std::string text;                        // generated text without the stop sequence
  std::string stopped_by;                  // tokens | mark | stop text | caller
  std::vector<std::string> notes;          // about prompt and options, one sentence each
  double prompt_seconds = 0, seconds = 0;  // of the prompt, of generation
  int64_t cache_bytes = 0;                 // of all layers, at the end
};

/// Streaming callback: receives complete characters; returning false stops the generation.
using ShowText = std::function<bool(std::string_view)>;

/// Continues `prompt` (any bytes), after the tokenizer's begin_before_text(), with the model in evaluation
/// mode. Ids without a token (a vocabulary padded beyond the tokenizer) are never sampled; greedy decoding
/// takes them, as in transformers, and they have no text. Errors: an empty prompt for a tokenizer
/// without BOS (usage), a token outside the model's vocabulary (data), caches larger than the free memory
/// (general).
Generation generate_text(LanguageModel& model, std::shared_ptr<const text::Tokenizer> tokenizer,
                         std::string_view prompt, const GenerationConfig& config, const ShowText& show = {});

/// Whether `id` ends a text: one of `end_ids`, or without them the tokenizer's EOS or BOS token.
bool ends_text(text::Tokenizer::Id id, const text::Tokenizer& tokenizer, const std::vector<int64_t>& end_ids);

/// Bytes of the key-value caches of all layers.
ops::CacheBytes cache_bytes(const LanguageModelConfig& config, const ops::CachedText& text);

}  // namespace modewise::models
