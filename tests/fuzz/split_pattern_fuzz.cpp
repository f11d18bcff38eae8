#include "modewise/io/utf8.h"
#include "modewise/text/word_splitter.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;
using namespace modewise::text;

// A pattern, NUL, a text; the length of the input chooses the behavior.
FUZZ_TARGET(split_pattern) {
  using Behavior = TokenizerJson::Step::Behavior;
  const TwoTexts input(input_text(data, size));
  const std::string_view pattern = input.first, text = input.second;
  if (find_invalid_utf8(pattern) != std::string_view::npos) return 0;
  if (find_invalid_utf8(text) != std::string_view::npos) return 0;
  return survive([&] {
    TokenizerJson::Step split, bytes;
    split.kind = TokenizerJson::Step::Kind::split;
    split.pattern = pattern;
    split.behavior = static_cast<Behavior>(size % 5);
    split.literal = size % 7 == 0;
    split.invert = size % 2 == 0;
    bytes.gpt2_pattern = size % 3 == 0;
    const WordSplitter splitter({split, bytes}, "file");
    SplitPattern::Workspace workspace;
    std::string joined;
    splitter.split(text, workspace, [&](std::string_view word) {
      expect(!word.empty() && find_invalid_utf8(word) == std::string_view::npos);
      joined += word;
    });
    if (split.behavior == Behavior::removed)
      expect(joined.size() <= text.size());
    else
      expect(joined == text);
  });
}
