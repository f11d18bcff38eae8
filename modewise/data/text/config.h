#pragma once
// Which texts a run is about: GLUE's folders, tables and JSON lines of one's own, or documents.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/document_config.h"

namespace modewise::data {

struct TextDataConfig {
  std::string path;              // folder or file
  std::string validation, test;  // files of their own, instead of those of the folder or parts of the file
  std::string glue = "auto";     // auto: by the folder's name | cola | sst2 | … | none: one's own
  std::string dev = "test";      // GLUE's dev.tsv: test | both (validation too)
  std::string text = "text", pair = "auto",
              label = "label";                         // columns of one's own; pair auto: text2 or pair
  std::string delimiter = "auto";                      // of tables: by the file's ending, or one
  std::vector<std::string> classes;                    // names as in the label column; empty: found
  bool allow_broken = false;                           // leave out rows that cannot be read
  double validation_share = 0.1;                       // of training, where no file is for validation
  std::vector<double> split_ratios = {0.8, 0.1, 0.1};  // of a single file
  int64_t split_seed = 1;
  std::string separator = "auto";  // of documents
  int64_t length = 0;              // tokens of a text, marks included; 0: the model's positions

  void fields(Fields& f);
  void validate(const std::string& source) const;
  /// The same as documents, for masked training.
  DocumentConfig documents() const;
};

/// How tokens are hidden in masked training.
struct MaskingConfig {
  double share = 0.15;                   // of the tokens, or of the words
  double hidden = 0.8, exchanged = 0.1;  // of them become the mask, another token; the rest stays
  bool whole_words = false;

  void fields(Fields& f);
  void validate(const std::string& source) const;
};

}  // namespace modewise::data
