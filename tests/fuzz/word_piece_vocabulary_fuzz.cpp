#include <string_view>

#include "modewise/io/tokenizers/word_piece_vocabulary.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

// A config up to the first NUL, then the vocabulary.
FUZZ_TARGET(word_piece_vocabulary) {
  return survive([&] {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t nul = all.find('\0');
    BertTokenizerConfig config;
    if (nul != std::string_view::npos) config = parse_bert_tokenizer_config(all.substr(0, nul), "file");
    const size_t begin = nul == std::string_view::npos ? 0 : nul + 1;
    const TokenizerJson tokenizer =
        parse_word_piece_vocabulary(input_bytes(data + begin, size - begin), "file", config);
    expect(tokenizer.vocabulary.count() == tokenizer.size);
    expect(tokenizer.vocabulary[tokenizer.word_piece->unknown] == config.unknown);
    for (const TokenizerJson::AddedToken& token : tokenizer.added)
      expect(tokenizer.vocabulary[token.id] == token.content);
  });
}
