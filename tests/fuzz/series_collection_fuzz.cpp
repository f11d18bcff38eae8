#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include "modewise/data/series_classification/series_collection.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

// The ending of the file (ts, arff, csv or txt), NUL, the file: series with classes and their batches.
FUZZ_TARGET(series_collection) {
  static const InputFolder folder;
  const TwoTexts input(input_text(data, size));
  const std::string_view ending = input.first;
  if (ending != "ts" && ending != "arff" && ending != "csv" && ending != "txt") return 0;
  CollectionConfig config;
  config.path = folder.write("all." + std::string(ending), input.second);
  config.normalize = size % 2 == 0 ? "variable" : "sample";
  return survive([&] {
    const SeriesCollection set = load_collection(config);
    const int64_t count = set.count();
    expect(count > 0 && std::ssize(set.labels) == count && set.variables > 0 && set.length > 0);
    expect(std::ssize(set.train) + std::ssize(set.validation) + std::ssize(set.test) == count);
    for (const int64_t label : set.labels) expect(label >= 0 && label < std::ssize(set.classes));
    std::vector<int64_t> all;
    for (int64_t sample = 0; sample < count; ++sample) all.push_back(sample);
    LabelledBatch batch = gather_samples(set, all, set.length, set.padded());
    expect(at::isfinite(batch.values).all().item<bool>());
    augment(batch, {.noise = 0.1, .scale = 0.1, .shift = 1, .erase = 0.5}, 1, 1);
    expect(batch.values.size(0) == count && at::isfinite(batch.values).all().item<bool>());
  });
}
