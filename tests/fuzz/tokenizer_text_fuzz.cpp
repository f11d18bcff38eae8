#include <array>
#include <memory>

#include "modewise/text/load_tokenizer.h"
#include "modewise/text/text_frame.h"
#include "modewise/text/text_stream.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise;
using namespace modewise::io;
using namespace modewise::text;

namespace {

struct Case {
  const char* file;  // in the corpora of the tokenizer readers
  bool lossless;     // decoding restores any bytes
};
constexpr std::array<Case, 7> kCases = {{{"tokenizer_json/gpt2.json", true},
                                         {"tokenizer_json/llama3.json", true},
                                         {"tokenizer_json/steps.json", false},
                                         {"tokenizer_json/word_piece.json", false},
                                         {"sentencepiece_model/bpe_rules.model", false},
                                         {"sentencepiece_model/unigram_bytes.model", false},
                                         {"llama2c_tokenizer/small.bin", false}}};

std::shared_ptr<const Tokenizer> tokenizer_of(size_t number) {
  static std::array<std::shared_ptr<const Tokenizer>, kCases.size()> loaded;
  if (loaded[number] == nullptr)
    loaded[number] =
        load_tokenizer(std::string(MODEWISE_SOURCE_DIR "/tests/fuzz/corpus/") + kCases[number].file);
  return loaded[number];
}

void check(const std::shared_ptr<const Tokenizer>& tokenizer, bool lossless, std::string_view input) {
  const std::vector<Tokenizer::Id> ids = tokenizer->encode(input);
  for (const Tokenizer::Id id : ids) expect(tokenizer->has_token(id) && id < tokenizer->size());
  const std::string decoded = tokenizer->decode(ids);
  if (lossless) expect(decoded == input);
  TextStream stream(tokenizer);
  std::string streamed;
  for (const Tokenizer::Id id : ids) streamed += stream.push(id);
  expect(streamed + stream.finish() == decoded);

  const std::vector<Tokenizer::Piece> pieces = tokenizer->encode_pieces(input);
  expect(pieces.size() == ids.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    expect(pieces[i].id == ids[i] && pieces[i].begin <= pieces[i].end && pieces[i].end <= input.size());

  const TwoTexts texts(input);
  constexpr int64_t kMaximum = 12;
  const TextFrame frame = text_frame(*tokenizer);
  const FramedText framed = frame_text(*tokenizer, frame, texts.first, texts.second, kMaximum);
  expect(std::ssize(framed.ids) <= kMaximum && framed.types.size() == framed.ids.size() &&
         framed.pieces.size() == framed.ids.size() && framed.texts.size() == framed.ids.size());
  for (const Tokenizer::Id id : framed.ids) expect(id >= 0 && id < frame.size);
}

}  // namespace

// The first byte chooses a tokenizer, which is loaded once; the rest is a text, or two with a NUL in between.
FUZZ_TARGET(tokenizer_text) {
  if (size == 0) return 0;
  const size_t number = data[0] % kCases.size();
  return survive(
      [&] { check(tokenizer_of(number), kCases[number].lossless, input_text(data + 1, size - 1)); });
}
