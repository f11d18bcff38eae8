#include "modewise/core/toml_paths.h"
#include "modewise/data/captioning/config.h"
#include "modewise/data/forecasting/config.h"
#include "modewise/data/segmentation/config.h"
#include "modewise/data/series_classification/config.h"
#include "modewise/data/text/config.h"
#include "modewise/data/volume_classification/config.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise;
using namespace modewise::io;

namespace {

/// The data settings of several tasks, each in its own group.
struct Settings {
  data::ForecastDataConfig forecast;
  data::CollectionConfig series;
  data::VolumeConfig volumes;
  data::SegmentationDataConfig scenes;
  data::TextDataConfig text;
  data::CaptionConfig captions;

  void fields(Fields& f) {
    f.group("forecast", forecast);
    f.group("series", series);
    f.group("volumes", volumes);
    f.group("scenes", scenes);
    f.group("text", text);
    f.group("captions", captions);
  }
};

}  // namespace

// A TOML file, NUL, an assignment of --set: what is written must be read to the same.
FUZZ_TARGET(run_settings) {
  const TwoTexts input(input_text(data, size));
  survive([&] { toml_paths(input.first, "file"); }, {ErrorKind::config});
  return survive(
      [&] {
        Settings settings, again;
        Fields fields = fields_of(settings), read = fields_of(again);
        fields.load_toml(input.first, "file");
        if (!input.second.empty()) fields.set(input.second);
        fields.make_paths_absolute();
        fields.validate("file");
        read.load_toml(fields.to_toml(size % 2 == 0), "written");
        expect(read.to_toml() == fields.to_toml());
      },
      {ErrorKind::config, ErrorKind::usage});
}
