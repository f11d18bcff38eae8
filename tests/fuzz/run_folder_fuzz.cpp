#include "modewise/train/checkpoint/run_folder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::io;

// A run: manifest.json, NUL, metrics.jsonl, which is read as metrics.json, too.
FUZZ_TARGET(run_folder) {
  static const InputFolder folder;
  const TwoTexts input(input_text(data, size));
  folder.write("config.toml", "");
  folder.write("manifest.json", input.first);
  folder.write("metrics.jsonl", input.second);
  folder.write("metrics.json", input.second);
  const train::RunFolder run = train::RunFolder::open(folder.path());
  survive([&] { run.identity(); });
  survive([&] { run.require_task("forecasting"); }, {ErrorKind::data, ErrorKind::usage});
  survive([&] { run.read_metrics(); });
  return survive([&] { run.read_metric_lines(); });
}
