#include "modewise/data/token_set.h"
#include "modewise/data/token_windows.h"
#include "modewise/text/byte_tokenizer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

// A file of tokens, its splits, and their windows.
FUZZ_TARGET(token_file) {
  static const InputFolder folder;
  static const text::ByteTokenizer tokenizer;
  const std::string path = folder.write("tokens.safetensors", input_text(data, size));
  return survive([&] {
    if (!is_token_file(path)) return;
    const auto file = std::make_shared<const TokenFile>(path);
    const int64_t vocabulary = file->tokenizer().vocabulary;
    std::vector<int64_t> all(static_cast<size_t>(file->tokens()));
    file->read(0, file->tokens(), all.data());
    for (const int64_t token : all) expect(token >= 0 && token < vocabulary);
    DocumentConfig config;
    config.split_ratios = {0.5, 0.25, 0.25};
    TokenSet set;
    if (vocabulary <= tokenizer.size()) split_tokens(config, file, tokenizer, set);
    for (const TokenPart* part : {&set.train, &set.validation, &set.test}) {
      if (part->tokens() == 0) continue;
      const TokenWindows windows("part", TokenStream(*part, 0, 1), 3);
      const TokenBatch batch = windows.gather(std::vector<int64_t>{0, windows.size() - 1}, 1);
      expect(batch.inputs.size(0) == 2 && batch.inputs.size(1) == 3);
    }
  });
}
