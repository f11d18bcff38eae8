#include "modewise/io/tokenizers/character_map.h"
#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(sentencepiece_model) {
  return survive([&] {
    const SentencePieceModel model = parse_sentencepiece_model(input_bytes(data, size), "file");
    for (int32_t id = 0; id < model.pieces.size(); ++id) {
      const std::string_view text = model.pieces[id];
      expect(model.pieces.find(text) == id);
      if (model.character_map.empty()) continue;
      if (const auto rule = CharacterMap(model.character_map).longest(text))
        expect(rule->bytes > 0 && rule->bytes <= text.size());
    }
  });
}
