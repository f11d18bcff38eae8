#pragma once
// BERT vocabulary files: vocab.txt, one token per line, and its tokenizer_config.json.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "modewise/io/tokenizers/tokenizer_json.h"

namespace modewise::io {

/// Settings of tokenizer_config.json; the defaults are the authors'.
struct BertTokenizerConfig {
  BertNormalizing normalizing;
  std::string unknown = "[UNK]", opening = "[CLS]", closing = "[SEP]", padding = "[PAD]", mask = "[MASK]";
};

/// Reads do_lower_case, strip_accents, tokenize_chinese_chars and the special tokens; other members are
/// ignored. Throws data errors that name `source`, offset and rule, also for do_basic_tokenize = false.
BertTokenizerConfig parse_bert_tokenizer_config(std::string_view json, const std::string& source);

/// The tokens of `bytes`, numbered from 0 by line. Throws data errors that name `source`, line and rule: an
/// empty line, a duplicate token, no token for unknown words.
TokenizerJson parse_word_piece_vocabulary(std::span<const std::byte> bytes, const std::string& source,
                                          const BertTokenizerConfig& config);

}  // namespace modewise::io
