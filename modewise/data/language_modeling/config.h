#pragma once
// What a language model reads: text, or sequences of keys and values that are made up.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/document_config.h"

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

struct TextConfig : DocumentConfig {  // path: also "recall"
  RecallConfig recall;

  void fields(Fields& f);
  /// The rules that tie fields together; `source` opens the message.
  void validate(const std::string& source) const;
  bool is_recall() const { return path == "recall"; }
};

}  // namespace modewise::data
