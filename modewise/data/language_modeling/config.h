#pragma once
// Config of language-modelling data: text, or synthetic key-value recall.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/document_config.h"

namespace modewise::data {

/// Synthetic key-value recall: key and value tokens with queries at the end (key_value_recall.h).
struct RecallConfig {
  std::vector<int64_t> pairs = {16};  // pairs of a sample: one of these numbers, drawn
  int64_t length = 256;               // tokens of a sample, including the queries
  int64_t distance = 0;               // minimum tokens between a pair and the first query
  int64_t questions = 0;              // queries; 0: as many as pairs
  bool repeated = false;              // keys may be queried several times
  int64_t vocabulary = 64;            // number of keys, of values, and of filler tokens
  int64_t samples = 4096;             // per training epoch
  int64_t held_back = 256;            // validation samples, and test samples

  void fields(Fields& f);
  /// Vocabulary size.
  int64_t tokens() const { return 3 * vocabulary + 1; }
  /// Number of queries of a sample with this many pairs.
  int64_t asked(int64_t pairs_there) const;
};

struct TextConfig : DocumentConfig {  // path: also "recall"
  RecallConfig recall;

  void fields(Fields& f);
  /// Checks rules between fields; messages begin with `source`.
  void validate(const std::string& source) const;
  bool is_recall() const { return path == "recall"; }
};

}  // namespace modewise::data
