#pragma once
// BERT's own files: vocab.txt, a token a line, and what tokenizer_config.json says of it.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::io {

/// Where the file says nothing, what the authors' does.
struct BertTokenizerConfig {
  BertNormalizing normalizing;
  std::string unknown = "[UNK]", opening = "[CLS]", closing = "[SEP]", padding = "[PAD]", mask = "[MASK]";
};

/// do_lower_case, strip_accents, tokenize_chinese_chars and the names of the marks; other members are passed
/// over. Throws data errors that name `source`, the place and the rule, for do_basic_tokenize = false too.
BertTokenizerConfig parse_bert_tokenizer_config(std::string_view json, const std::string& source);

/// The tokens of `bytes`, numbered from 0 by line. Throws data errors that name `source`, line and rule: an
/// empty line, a token that stands there twice, none for unknown words.
TokenizerJson parse_word_piece_vocabulary(std::span<const std::byte> bytes, const std::string& source,
                                          const BertTokenizerConfig& config);

}  // namespace modewise::io
