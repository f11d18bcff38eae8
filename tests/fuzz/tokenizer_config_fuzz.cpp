#include "modewise/text/load_tokenizer.h"
#include "modewise/text/text_frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::io;
using namespace modewise::text;

// The first byte chooses a tokenizer; then tokenizer_config.json, NUL, special_tokens_map.json.
FUZZ_TARGET(tokenizer_config) {
  static constexpr const char* kNames[] = {"vocab.txt", "tokenizer.json", "tokenizer.model"};
  static const InputFolder folder({{kNames[0], "word_piece_vocabulary/plain.txt"},
                                   {kNames[1], "tokenizer_json/gpt2.json"},
                                   {kNames[2], "sentencepiece_model/bpe.model"}});
  if (size == 0) return 0;
  const TwoTexts input(input_text(data + 1, size - 1));
  folder.write("tokenizer_config.json", input.first);
  folder.write("special_tokens_map.json", input.second.empty() ? "{}" : input.second);
  return survive([&] {
    const std::shared_ptr<Tokenizer> tokenizer = load_tokenizer(folder.path() / kNames[data[0] % 3]);
    for (const auto id : {tokenizer->begin_id(), tokenizer->end_id(), tokenizer->begin_before_text()})
      expect(!id || tokenizer->has_token(*id));
    const TextFrame frame = text_frame(*tokenizer);
    expect(frame.padding < frame.size && frame.mask < frame.size && !frame.single.empty());
    for (const Tokenizer::Id id : frame.special) expect(id >= 0 && id < frame.size);
  });
}
