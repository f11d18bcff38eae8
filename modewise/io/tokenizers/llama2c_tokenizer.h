#pragma once
// tokenizer.bin of llama2.c: the longest piece's length as int32, then for each piece its score as float32,
// its length as int32 and its bytes; little endian. Ids are positions; 0 to 2 are <unk>, <s> and </s>, 3 to
// 258 the bytes as <0x00> to <0xFF>.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tokenizers/token_table.h"

namespace modewise::io {

struct Llama2cTokenizer {
  TokenTable pieces;
  std::vector<float> scores;  // per piece; higher scores merge first
  int32_t first_byte = 3;     // id of <0x00>
};

/// "<0x0A>" for 10.
std::string byte_piece(int byte);

/// Throws data errors that name `source`, offset and rule.
Llama2cTokenizer parse_llama2c_tokenizer(std::span<const std::byte> bytes, const std::string& source);

}  // namespace modewise::io
