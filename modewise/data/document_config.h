#pragma once
// Which text is read, how it is parted into documents, and which of them are learnt from.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

struct DocumentConfig {
  std::string path;                // text, folder, .jsonl or token file
  std::string validation, test;    // of other files; "": parts of `path`
  std::string field = "text";      // of the objects of a .jsonl file
  std::string separator = "auto";  // auto | endoftext | blank | none
  bool begin_token = true;         // documents are packed with the tokenizer's begin and end tokens,
  bool end_token = true;           //   where it has them
  std::string split = "auto";      // auto | documents | cut
  std::vector<double> split_ratios = {0.9, 0.05, 0.05};
  int64_t split_seed = 1;
  bool shift = true;  // windows of a training batch begin a random number of tokens later

  /// All but the path, whose help a task gives.
  void fields(Fields& f);
  /// The rules that tie fields together; `source` opens the message.
  void validate(const std::string& source) const;
};

}  // namespace modewise::data
