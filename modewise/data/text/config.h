#pragma once
// Config of text data: GLUE folders, your own tables and JSON lines, or documents; and of masking.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/document_config.h"

namespace modewise::data {

struct TextDataConfig {
  std::string path;              // folder or file
  std::string validation, test;  // separate files; "": those of the folder, or splits of the file
  std::string glue = "auto";     // auto: by the folder's name | cola | sst2 | … | none: your own data
  std::string dev = "test";      // use of GLUE's dev.tsv: test | both (also validation)
  std::string text = "text", pair = "auto",
              label = "label";                         // columns of your data; pair auto: text2 or pair
  std::string delimiter = "auto";                      // auto: by the file extension
  std::vector<std::string> classes;                    // names as in the label column; empty: detected
  bool allow_broken = false;                           // skip malformed rows
  bool allow_binary = false;                           // masked_lm: files may have any bytes
  double validation_share = 0.1;                       // of training, without a validation file
  std::vector<double> split_ratios = {0.8, 0.1, 0.1};  // for a single file
  int64_t split_seed = 1;
  std::string separator = "auto";  // between documents
  int64_t length = 0;              // maximum length, including special tokens; 0: the model's

  void fields(Fields& f);
  void validate(const std::string& source) const;
  /// The same as documents, for masked language modelling.
  DocumentConfig documents() const;
};

/// Masking of masked language modelling.
struct MaskingConfig {
  double share = 0.15;                   // mask rate, of tokens or words
  double hidden = 0.8, exchanged = 0.1;  // probability of the mask token, of a random token; else unchanged
  bool whole_words = false;

  void fields(Fields& f);
  void validate(const std::string& source) const;
};

}  // namespace modewise::data
