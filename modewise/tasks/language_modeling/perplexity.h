#pragma once
// Perplexity of documents by several conventions, whose results differ for one model and text:
//
// - sliding: as in YaRN. Windows of `length` tokens, including BOS, every `stride` tokens; each predicts the
//   tokens that previous windows did not.
// - halves: as in llama.cpp. Adjacent windows of `length` tokens over all documents joined, with the first
//   token of each replaced by BOS; the second half of each is predicted.
// - rolling: as in lm-eval. Adjacent windows of `length` targets with the previous token as context (the last
//   window is extended backwards); BOS, or else EOS, precedes a document.
// - stream: each document in one pass through the cache, with all context that the attention can use; memory
//   is constant if the attention's cache is.
// - spread: the same `windows` spans of `stride` tokens for every length, each at the end of a window of that
//   length; a cheap convention for many lengths.
//
// Two means are reported: over all predicted tokens, and over the window means (as in YaRN).

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/token_file.h"
#include "modewise/tasks/language_modeling/scores.h"

namespace modewise::tasks {

struct PerplexityOptions {
  std::string convention = "sliding";
  int64_t length = 512;
  int64_t stride = 256;
  int64_t windows = 16;         // of spread
  int64_t longest = 0;          // of spread: the longest compared length
  int64_t batch_tokens = 8192;  // maximum tokens of a batch of windows of equal length
};

/// Tokens begin … end − 1 of a document, after BOS if `prefix`; the last `scored` tokens are predicted.
struct ScoredWindow {
  size_t document = 0;
  int64_t begin = 0, end = 0;
  bool prefix = false;
  int64_t scored = 0;

  bool operator==(const ScoredWindow&) const = default;
};

/// Windows of a convention other than stream, for documents of these sizes; `prefix`: BOS or EOS precedes
/// them. Data error if the documents are too short for a window.
std::vector<ScoredWindow> scored_windows(const PerplexityOptions& options,
                                         const std::vector<int64_t>& documents, bool prefix);

struct PerplexityResult {
  PerplexityOptions options;
  TokenScores scores;
  double window_loss = 0;  // mean of the window means
  int64_t windows = 0;
  int64_t computed = 0;  // tokens processed by the model
  double seconds = 0;
  int64_t cache_bytes = 0;  // of stream, at the end
};
nlohmann::ordered_json to_json(const PerplexityResult& result);

/// Perplexity of the documents of `part`, without bytes and words; `prefix`: the token before them. Throws
/// train::EvaluationInterrupted on a stop signal.
PerplexityResult measure_perplexity(models::LanguageModel& model, const data::TokenPart& part,
                                    std::optional<int32_t> prefix, const PerplexityOptions& options);

}  // namespace modewise::tasks
