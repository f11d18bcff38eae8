#include <ATen/TensorOperators.h>

#include "modewise/data/captioning/caption_set.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

// Captions in any format with their images: splits, vocabulary, pixels and tokens.
FUZZ_TARGET(caption_set) {
  static const InputFolder folder({{"images/1.png", "png/colors_8"},
                                   {"images/2.png", "png/grey_8"},
                                   {"images/3.png", "png/palette_4"},
                                   {"images/4.png", "png/one_pixel"}});
  CaptionConfig config;
  config.path = folder.write("captions.json", input_text(data, size));
  config.images = folder.path() / "images";
  config.size = 3;
  config.split_ratios = {0.5, 0.25, 0.25};
  return survive(
      [&] {
        const CaptionSet set = load_captions(config);
        expect(!set.images.empty() && set.pixels.size(0) == std::ssize(set.images) && !set.train.empty());
        expect(set.train.size() + set.validation.size() + set.test.size() <= set.images.size());
        expect(gather_images(set, set.train).size(0) == std::ssize(set.train));
        std::vector<std::vector<int64_t>> captions;
        for (const int64_t image : set.train)
          for (const auto& words : set.images[static_cast<size_t>(image)].words) {
            captions.push_back(set.vocabulary.numbers(words));
            set.vocabulary.text(captions.back());
          }
        const CaptionTokens tokens = caption_tokens(captions, 5);
        expect(tokens.inputs.max().item<int64_t>() < set.vocabulary.size() && tokens.inputs.size(1) <= 5);
        expect(set.references(set.train).captions.size() == captions.size());
      },
      {ErrorKind::data, ErrorKind::config});
}
