#pragma once
// Which text a language model reads, how it is parted into documents, and which of them it learns from.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

/// Sequences of key and value tokens with questions at their end (key_value_recall.h).
struct RecallConfig {
  std::vector<int64_t> pairs = {16};  // each sample holds one of these numbers of pairs
  int64_t length = 256;               // tokens of a sample, the questions included
  int64_t distance = 0;               // at least so many tokens lie between a pair and the first question
  int64_t questions = 0;              // 0: as many as pairs
  bool repeated = false;              // a key may be asked for again; otherwise at most once each
  int64_t vocabulary = 64;            // keys; as many values, and as many fillers
  int64_t samples = 4096;             // a training epoch
  int64_t held_back = 256;            // samples of validation, and of test

  void fields(Fields& f);
  /// Tokens that the samples are made of.
  int64_t tokens() const { return 3 * vocabulary + 1; }
  /// Questions of a sample with so many pairs.
  int64_t asked(int64_t pairs_there) const;
};

struct TextConfig {
  std::string path;                // text, folder, .jsonl, token file, or "recall"
  std::string validation, test;    // of other files; "": parts of `path`
  std::string field = "text";      // of the objects of a .jsonl file
  std::string separator = "auto";  // auto | endoftext | blank | none
  bool begin_token = true;         // documents are packed with the tokenizer's begin and end tokens,
  bool end_token = true;           //   where it has them
  std::string split = "auto";      // auto | documents | cut
  std::vector<double> split_ratios = {0.9, 0.05, 0.05};
  int64_t split_seed = 1;
  bool shift = true;  // windows of a training batch begin a random number of tokens later
  RecallConfig recall;

  void fields(Fields& f);
  /// The rules that tie fields together; `source` opens the message.
  void validate(const std::string& source) const;
  bool is_recall() const { return path == "recall"; }
};

}  // namespace modewise::data
