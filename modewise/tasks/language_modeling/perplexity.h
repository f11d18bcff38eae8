#pragma once
// Perplexity of documents under named conventions, which give different figures for one model and text:
//
// - sliding: as YaRN's evaluation. Windows of `length` tokens, the begin token included, begin every `stride`
// tokens;
//   each predicts what the windows before it did not.
// - halves: as llama.cpp. Windows of `length` tokens side by side over all documents joined, the first token
// of each
//   replaced by the begin token; the second half of each is predicted.
// - rolling: as lm-eval. Windows of `length` targets side by side, the token before them as context (the last
// window
//   reaches back to be full); the begin token, or else the end token, stands before a document.
// - stream: each document in one pass through the cache, every token seeing all that its attention can;
// memory does not
//   grow with the document where the attention's cache does not.
// - spread: the same `windows` stretches of `stride` tokens for every length, each at the end of a window of
// that
//   length; what an evaluation of many lengths can afford.
//
// Two means are told: over all predicted tokens, and over the means of the windows (YaRN's).

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
  int64_t longest = 0;          // of spread: the greatest of the lengths compared
  int64_t max_tokens = 0;      // of each document, from its beginning; 0: all
  int64_t batch_tokens = 8192;  // windows of equal length are computed together, up to so many tokens
};

/// Tokens begin … end − 1 of a document behind the begin token (`prefix`) or not; the last `scored` are
/// predicted.
struct ScoredWindow {
  size_t document = 0;
  int64_t begin = 0, end = 0;
  bool prefix = false;
  int64_t scored = 0;

  bool operator==(const ScoredWindow&) const = default;
};

/// The windows of a convention but stream, for documents of these many tokens; `prefix`: there is a token to
/// stand before them. Data error when the documents are too short for one.
std::vector<ScoredWindow> scored_windows(const PerplexityOptions& options,
                                         const std::vector<int64_t>& documents, bool prefix);

struct PerplexityResult {
  PerplexityOptions options;
  TokenScores scores;
  double window_loss = 0;  // mean over the windows of their mean losses
  int64_t windows = 0;
  int64_t computed = 0;  // tokens that went through the model
  double seconds = 0;
  int64_t cache_bytes = 0;  // of stream, at its end
};
nlohmann::ordered_json to_json(const PerplexityResult& result);

/// `part`'s documents; `prefix`: the token before them. Throws train::EvaluationInterrupted on a stop signal.
PerplexityResult measure_perplexity(models::LanguageModel& model, const data::TokenPart& part,
                                    std::optional<int32_t> prefix, const PerplexityOptions& options);

}  // namespace modewise::tasks
