#include <algorithm>
#include <cmath>

#include "modewise/data/segmentation/segmentation_set.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

// A scene (TIFF, NPY or PNG) that is its own mask: classes, splits and scaled windows.
FUZZ_TARGET(segmentation_set) {
  static const InputFolder folder;
  const std::string_view scene = input_text(data, size);
  SegmentationDataConfig config;
  const char* name = scene.starts_with("\x93NUMPY") ? "scene.npy"
                     : scene.starts_with("\x89PNG") ? "scene.png"
                                                    : "scene.tif";
  config.path = folder.write(name, scene);
  config.masks = config.path;
  config.window = 4;
  config.guard = 0;
  return survive(
      [&] {
        const SegmentationSet set(config, 1);
        expect(set.classes().size() >= 2 && set.bands() > 0 && !set.training_tiles().empty());
        for (const SceneSplit split : {SceneSplit::train, SceneSplit::validation, SceneSplit::test})
          for (const SceneArea& area : set.areas(split)) {
            if (area.area.pixels() > 4096) continue;
            const SceneWindow window = set.read(area);
            expect(std::ranges::all_of(window.image, [](float value) { return std::isfinite(value); }));
            for (const int16_t label : set.labels(area.file, area.area))
              expect(label >= ClassMap::ignored && label < set.classes().size());
          }
        set.geo(0);
      },
      {ErrorKind::data, ErrorKind::config});
}
