#pragma once
// Config of text data: the source, its documents, and their train/validation/test split.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

struct DocumentConfig {
  std::string path;                  // text, folder, .jsonl or token file
  std::string validation, test;      // other files; "": splits of `path`
  std::string field = "text";        // field of a .jsonl object that holds the text
  bool allow_binary = false;         // files may have any bytes, text or not
  std::string separator = "auto";    // auto | endoftext | blank | none
  std::string begin_token = "auto";  // auto (as the tokenizer's files say) | yes | no: the begin token before
                                     //   each packed document, if the tokenizer has one
  bool end_token = true;             // the end token after it, if the tokenizer has one
  std::string split = "auto";        // auto | documents | cut
  std::vector<double> split_ratios = {0.9, 0.05, 0.05};
  int64_t split_seed = 1;
  bool shift = true;  // random offset of the windows of each training batch

  /// Adds all fields except `path`, which the task adds with its own help.
  void fields(Fields& f);
  /// Checks rules between fields; messages begin with `source`.
  void validate(const std::string& source) const;
};

}  // namespace modewise::data
