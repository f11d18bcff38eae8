#include "modewise/io/tokenizers/llama2c_tokenizer.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(llama2c_tokenizer) {
  return survive([&] {
    const Llama2cTokenizer tokenizer = parse_llama2c_tokenizer(input_bytes(data, size), "file");
    expect(tokenizer.scores.size() == static_cast<size_t>(tokenizer.pieces.size()));
    for (int32_t id = 0; id < tokenizer.pieces.size(); ++id)
      expect(tokenizer.pieces.find(tokenizer.pieces[id]) == id);
  });
}
