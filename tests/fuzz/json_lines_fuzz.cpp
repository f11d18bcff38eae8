#include "modewise/data/text/text_set.h"
#include "modewise/data/text_documents.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

// JSON Lines as texts with classes, as texts with numbers, and as documents.
FUZZ_TARGET(json_lines) {
  static const InputFolder folder;
  TextDataConfig config;
  config.path = folder.write("texts.jsonl", input_text(data, size));
  config.allow_broken = size % 2 == 0;
  for (const bool numbers : {false, true})
    survive([&] {
      const TextSet set = load_texts(config, numbers);
      const size_t count = set.labels.size();
      expect(count > 0 && set.first.size() == count && (!set.pairs() || set.second.size() == count));
      expect(set.targets.size() == (numbers ? count : 0));
      expect(set.train.size() + set.validation.size() + set.test.size() <= count && !set.train.empty());
      for (const int64_t label : set.labels) expect(label >= -1 && label < std::ssize(set.classes));
    });
  return survive([&] {
    std::vector<std::string> notes;
    size_t bytes = 0;
    for_each_document(
        {}, config.path, [&](std::string_view text) { bytes += text.size(); }, notes);
    expect(bytes > 0 && bytes <= size);
  });
}
