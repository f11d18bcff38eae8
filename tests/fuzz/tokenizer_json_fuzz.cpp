#include "modewise/io/tokenizers/tokenizer_json.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(tokenizer_json) {
  return survive([&] {
    const TokenizerJson tokenizer = parse_tokenizer_json(input_bytes(data, size), "file");
    expect(tokenizer.vocabulary.size() <= tokenizer.size);
    for (const TokenizerJson::Merge& merge : tokenizer.merges) {
      expect(tokenizer.vocabulary.has(merge.left) && tokenizer.vocabulary.has(merge.right));
      expect(tokenizer.vocabulary[merge.result].size() ==
             tokenizer.vocabulary[merge.left].size() + tokenizer.vocabulary[merge.right].size());
    }
  });
}
