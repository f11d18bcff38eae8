#include "modewise/io/captions/coco_captions.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

namespace {

void check(const ImageTexts& texts, size_t size) {
  size_t bytes = 0, found = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    bytes += texts.text(i).size();
    for (const uint32_t one : texts.of(texts.image(i))) found += one == i ? 1 : 0;
  }
  expect(bytes <= size && found == texts.size());
}

}  // namespace

FUZZ_TARGET(coco_captions) {
  survive([&] {
    const CaptionFile captions = parse_captions(input_bytes(data, size), "file");
    check(captions.images, size);
    check(captions.captions, size);
    expect(captions.splits.empty() || captions.splits.size() == captions.images.size());
    for (size_t i = 0; i < captions.captions.size(); ++i) captions.caption_place(i);
  });
  return survive([&] { check(parse_coco_results(input_bytes(data, size), "file").captions, size); });
}
