#include "modewise/data/series_classification/series_collection.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/random.h"
#include "modewise/data/series_classification/sources.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

struct CollectionFiles {
  std::string train, test;  // test "": none
  bool all = false;         // one file contains all samples
};

/// File extensions in order of preference.
constexpr std::array<std::string_view, 5> kEndings = {".ts", ".tsv", ".csv", ".txt", ".arff"};
/// Test fraction of a file without a test file, and the seed of that split.
constexpr double kTestShare = 0.2;
constexpr uint64_t kTestSeed = 0;

/// The file of a folder that ends in `part` and one of the extensions; "": none.
std::string file_of_part(const fs::path& folder, const std::string& part) {
  for (const std::string_view ending : kEndings) {
    std::string found;
    for (const fs::path& entry : data_entries(folder)) {
      const std::string name = entry.filename().string();
      if (lower_extension(name) != ending || !entry.stem().string().ends_with(part)) continue;
      require(found.empty(), ErrorKind::data, "{}: several files end in {}{}; name one of them",
              folder.string(), part, ending);
      found = entry.string();
    }
    if (!found.empty()) return found;
  }
  fail(ErrorKind::no_input, "{}: no file ends in {}{}", folder.string(), part,
       fmt::join(kEndings, fmt::format(", {}", part)));
}

/// Files of a config. Without `with_test` the test file may be missing.
CollectionFiles files_of(const CollectionConfig& config, bool with_test) {
  if (!config.train.empty()) return {config.train, config.test};
  require(!config.path.empty(), ErrorKind::config,
          "data.path: expected a folder or file of series, got none");
  require(fs::exists(config.path), ErrorKind::no_input, "there is no file or folder {}", config.path);
  if (fs::is_directory(config.path))
    return {file_of_part(config.path, "_TRAIN"), with_test ? file_of_part(config.path, "_TEST") : ""};
  const fs::path path(config.path);
  const std::string ending = path.extension().string(), stem = path.stem().string();
  bool is_part = false;
  for (const auto& [own, other] : {std::pair("_TRAIN", "_TEST"), std::pair("_TEST", "_TRAIN")}) {
    if (!stem.ends_with(own)) continue;
    is_part = true;
    const std::string twin =
        path.parent_path() / (stem.substr(0, stem.size() - std::string(own).size()) + other + ending);
    if (!fs::exists(twin)) break;
    return std::string(own) == "_TRAIN" ? CollectionFiles{config.path, twin}
                                        : CollectionFiles{twin, config.path};
  }
  return {config.path, config.test, !is_part && config.test.empty()};
}

/// Appends the samples of a file, with classes matched by name.
void append(SeriesCollection& set, RawSamples raw, const std::string& part) {
  const NameIndex known(set.classes);
  for (size_t i = 0; i < raw.samples.size(); ++i) {
    int64_t label = -1;
    if (raw.labels[i] >= 0) {
      const std::string& name = raw.classes[static_cast<size_t>(raw.labels[i])];
      const auto found = known.find(name);
      if (!found)
        fail(ErrorKind::data, "{}: sample {} has class '{}', which no training sample has (there are {})",
             raw.source, i + 1, name, listed_names(set.classes));
      label = static_cast<int64_t>(*found);
    }
    fill_gaps(raw.samples[i]);
    set.samples.push_back(std::move(raw.samples[i]));
    set.labels.push_back(label);
    set.names.push_back(fmt::format("{} {}", part, i + 1));
  }
  if (raw.missing > 0)
    set.notes.push_back(
        fmt::format("{}: {} missing values filled by linear interpolation", raw.source, raw.missing));
  for (std::string& note : raw.notes) set.notes.push_back(std::move(note));
}

/// The declared classes that occur in any of `parts`.
std::vector<std::string> classes_of(std::span<const RawSamples* const> parts) {
  std::vector<std::string> classes;
  NameIndex known;
  for (const RawSamples* part : parts) {
    std::vector<bool> occurs(part->classes.size(), false);
    for (const int64_t label : part->labels)
      if (label >= 0) occurs[static_cast<size_t>(label)] = true;
    for (size_t k = 0; k < part->classes.size(); ++k)
      if (occurs[k] && known.add(part->classes[k]).second) classes.push_back(part->classes[k]);
  }
  return classes;
}

void require_fitting(const RawSamples& train, const RawSamples& test) {
  require(test.variables == train.variables, ErrorKind::data, "{}: series of {} dimensions, but {} has {}",
          test.source, test.variables, train.source, train.variables);
  require(!test.classes.empty(), ErrorKind::data, "{}: the test samples have no classes", test.source);
}

/// Samples by class, each shuffled by the seed.
std::vector<std::vector<int64_t>> shuffled_classes(const SeriesCollection& set,
                                                   const std::vector<int64_t>& samples, uint64_t seed) {
  std::vector<std::vector<int64_t>> out;
  const std::vector<std::vector<int64_t>> by_class = samples_by_class(set, samples);
  for (size_t label = 1; label < by_class.size(); ++label) {
    const std::vector<int64_t>& members = by_class[label];
    const auto order =
        random_permutation(std::ssize(members), {seed, RandomSite::splits, static_cast<uint64_t>(label)});
    std::vector<int64_t> shuffled;
    for (const int64_t at : order) shuffled.push_back(members[static_cast<size_t>(at)]);
    out.push_back(std::move(shuffled));
  }
  return out;
}

/// Stratified split into training, validation and test; each class keeps at least one training sample.
void split_again(SeriesCollection& set, const std::vector<int64_t>& samples, double validation, double test,
                 uint64_t seed) {
  for (const std::vector<int64_t>& members : shuffled_classes(set, samples, seed)) {
    const auto n = static_cast<double>(members.size());
    int64_t for_test = std::llround(test * n),
            for_validation = std::llround((validation + test) * n) - for_test;
    // Small classes are evaluated too if they have enough samples.
    if (for_validation == 0 && n >= 2) for_validation = 1;
    if (test > 0 && for_test == 0 && n >= 3) for_test = 1;
    for (size_t i = 0; i < members.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      (place < for_test                    ? set.test
       : place < for_test + for_validation ? set.validation
                                           : set.train)
          .push_back(members[i]);
    }
  }
  for (auto* list : {&set.train, &set.validation, &set.test}) std::sort(list->begin(), list->end());
}

/// Puts a fraction of each class into the test split, independent of the config's seed; returns the others.
std::vector<int64_t> keep_test_samples(SeriesCollection& set, const std::vector<int64_t>& samples) {
  std::vector<int64_t> others;
  for (const std::vector<int64_t>& members : shuffled_classes(set, samples, kTestSeed)) {
    const auto n = static_cast<double>(members.size());
    const int64_t share = std::llround(kTestShare * n);
    const auto kept = members.begin() + (n >= 3 ? std::max<int64_t>(share, 1) : 0);
    set.test.insert(set.test.end(), members.begin(), kept);
    others.insert(others.end(), kept, members.end());
  }
  std::sort(others.begin(), others.end());
  return others;
}

/// `all`: the training samples are all samples.
void make_splits(SeriesCollection& set, const CollectionConfig& config, int64_t training_samples, bool all) {
  std::vector<int64_t> own;
  for (int64_t i = 0; i < set.count(); ++i) (i < training_samples ? own : set.test).push_back(i);
  const auto seed = static_cast<uint64_t>(config.split_seed);
  if (config.protocol == "tslib") {
    set.train = own;
    set.validation = set.test;
    set.notes.insert(
        set.notes.begin(),
        "protocol tslib: the weights are selected ON THE TEST SAMPLES and each split is scaled on its "
        "own, like Time-Series-Library; the accuracy is an upper bound, not an estimate");
    set.warnings = 1;
  } else if (config.protocol == "paper") {
    own.insert(own.end(), set.test.begin(), set.test.end());
    set.test.clear();
    split_again(set, own, 0.1, 0.1, seed);
    set.notes.push_back(fmt::format("protocol paper: random split of all {} samples by class with seed {}",
                                    own.size(), config.split_seed));
  } else if (all) {
    split_again(set, keep_test_samples(set, own), config.validation_share, 0, seed);
    set.notes.push_back(
        fmt::format("no test file: {} of the {} samples are the test split, independent of data.split_seed",
                    set.test.size(), own.size()));
  } else {
    split_again(set, own, config.validation_share, 0, seed);
  }
}

/// Reads the test samples if they are requested, or if the protocol splits all samples.
std::optional<RawSamples> read_test_samples(const CollectionConfig& config, const std::string& file,
                                            bool with_test) {
  if (!with_test && config.protocol != "paper") return std::nullopt;
  if (config.is_simulated())
    return simulate_motifs(config.motifs, static_cast<uint64_t>(config.split_seed), true);
  return file.empty() ? std::nullopt : std::optional(read_samples(file));
}

/// Mean and standard deviation of each variable over `samples`; `sample`: with ddof 1.
VariableScale fit_scale(const SeriesCollection& set, const std::vector<int64_t>& samples, bool sample) {
  const auto variables = static_cast<size_t>(set.variables);
  VariableScale scale{std::vector<double>(variables, 0), std::vector<double>(variables, 1)};
  for (size_t v = 0; v < variables; ++v) {
    const auto each = [&](const auto& add) {
      for (const int64_t i : samples) {
        const at::Tensor& series = set.samples[static_cast<size_t>(i)];
        const float* x = series.const_data_ptr<float>() + static_cast<int64_t>(v) * series.size(1);
        for (int64_t t = 0; t < series.size(1); ++t)
          if (!std::isnan(x[t])) add(static_cast<double>(x[t]));
      }
    };
    double count = 0, sum = 0, squares = 0;
    each([&](double x) {
      sum += x;
      ++count;
    });
    if (count == 0) continue;
    const double mean = sum / count;
    each([&](double x) { squares += (x - mean) * (x - mean); });
    scale.mean[v] = mean;
    const double stddev = std::sqrt(squares / std::max(sample ? count - 1 : count, 1.0));
    if (stddev > 0) scale.stddev[v] = stddev;
  }
  return scale;
}

/// Scales in place; a variable without values becomes 0, the mean.
void apply_scale(at::Tensor& series, const VariableScale& scale) {
  for (int64_t v = 0; v < series.size(0); ++v) {
    float* x = series.mutable_data_ptr<float>() + v * series.size(1);
    const bool scaled = !scale.mean.empty();
    const double mean = scaled ? scale.mean[static_cast<size_t>(v)] : 0,
                 stddev = scaled ? scale.stddev[static_cast<size_t>(v)] : 1;
    for (int64_t t = 0; t < series.size(1); ++t)
      x[t] = std::isnan(x[t]) ? 0.0f : static_cast<float>((static_cast<double>(x[t]) - mean) / stddev);
  }
}

void scale_samples(SeriesCollection& set, const std::string& normalize) {
  for (int64_t i = 0; i < set.count(); ++i)
    apply_scale(set.samples[static_cast<size_t>(i)],
                normalize == "sample" ? fit_scale(set, {i}, false) : set.scale);
}

void scale_by_protocol(SeriesCollection& set, const CollectionConfig& config) {
  if (config.normalize != "variable") return scale_samples(set, config.normalize);
  const bool tslib = config.protocol == "tslib";
  set.scale = fit_scale(set, set.train, tslib);
  if (!tslib) return scale_samples(set, config.normalize);
  const VariableScale own = fit_scale(set, set.test, true);
  for (const int64_t i : set.train) apply_scale(set.samples[static_cast<size_t>(i)], set.scale);
  for (const int64_t i : set.test) apply_scale(set.samples[static_cast<size_t>(i)], own);
}

int64_t longest(const SeriesCollection& set) {
  int64_t length = 0;
  for (const at::Tensor& series : set.samples) length = std::max(length, series.size(1));
  return length;
}

}  // namespace

bool SeriesCollection::padded() const {
  return std::any_of(samples.begin(), samples.end(),
                     [&](const at::Tensor& series) { return series.size(1) != length; });
}

SeriesCollection load_collection(const CollectionConfig& config, bool with_test) {
  require(with_test || config.protocol != "tslib", ErrorKind::config,
          "protocol tslib selects the weights on the test samples: they cannot stay unread");
  const bool needs_test = with_test || config.protocol == "paper";
  const auto seed = static_cast<uint64_t>(config.split_seed);
  const CollectionFiles files =
      config.is_simulated() ? CollectionFiles{"motifs", "motifs"} : files_of(config, needs_test);
  const bool all = files.all && config.protocol == "official";
  require(!with_test || !files.test.empty() || all || config.protocol == "paper", ErrorKind::config,
          "{}: protocol {} needs a test file too: give data.test, or a folder with X_TRAIN.ts and X_TEST.ts",
          files.train, config.protocol);
  RawSamples train =
      config.is_simulated() ? simulate_motifs(config.motifs, seed, false) : read_samples(files.train);
  std::optional<RawSamples> test = read_test_samples(config, files.test, with_test);
  require(!train.classes.empty(), ErrorKind::data, "{}: the training samples have no classes", train.source);
  if (test) require_fitting(train, *test);

  SeriesCollection set;
  set.variables = train.variables;
  set.name = train.name;
  set.source = config.path.empty() ? config.train : config.path;
  std::vector<const RawSamples*> known = {&train};
  if (test && config.protocol == "paper") known.push_back(&*test);
  set.classes = classes_of(known);
  require(set.classes.size() >= 2, ErrorKind::data,
          "{}: all samples have class '{}'; a classifier needs two classes", train.source,
          fmt::join(set.classes, ""));
  const int64_t training_samples = std::ssize(train.samples);
  append(set, std::move(train), "train");
  if (test) append(set, std::move(*test), "test");
  make_splits(set, config, training_samples, all);
  if (!with_test) leave_test_out(set, set.samples);
  set.length = config.length > 0 ? config.length : longest(set);
  require(longest(set) <= set.length, ErrorKind::data,
          "{}: the longest sample has {} steps, data.length = {}", set.source, longest(set), config.length);
  if (!with_test && config.length == 0 && set.padded())
    set.notes.push_back(fmt::format(
        "test samples stay unread: any of more than {} steps will need a larger data.length", set.length));
  scale_by_protocol(set, config);
  return set;
}

SeriesCollection load_samples(const std::string& file, const std::string& normalize,
                              const TrainedSeries& trained) {
  require(fs::exists(file), ErrorKind::no_input, "there is no file {}", file);
  RawSamples raw = read_samples(file);
  require(raw.variables == trained.variables, ErrorKind::data,
          "{}: series of {} dimensions, but the run was trained on {}", file, raw.variables,
          trained.variables);
  SeriesCollection set;
  set.variables = raw.variables;
  set.name = raw.name;
  set.source = file;
  set.classes = trained.classes;
  set.scale = trained.scale;
  append(set, std::move(raw), "sample");
  set.length = trained.length;
  require(
      longest(set) <= set.length, ErrorKind::data,
      "{}: the longest sample has {} steps, but the model's maximum is {}; train with a larger data.length",
      file, longest(set), set.length);
  require(trained.padded || !set.padded(), ErrorKind::data,
          "{}: samples of other lengths than {} steps, but the run was trained on samples of equal length, "
          "so its model takes no padding masks",
          file, set.length);
  set.test = set.split("all");
  scale_samples(set, normalize);
  return set;
}

LabelledBatch gather_samples(const SeriesCollection& set, std::span<const int64_t> samples, int64_t length,
                             bool padded) {
  const auto batch = static_cast<int64_t>(samples.size());
  LabelledBatch out{at::zeros({batch, set.variables, length}, at::kFloat), {}, at::empty({batch}, at::kLong)};
  if (padded) out.valid = at::zeros({batch, length}, at::kBool);
  for (int64_t i = 0; i < batch; ++i) {
    const auto sample = static_cast<size_t>(samples[static_cast<size_t>(i)]);
    const at::Tensor& series = set.samples[sample];
    out.values.select(0, i).narrow(1, 0, series.size(1)).copy_(series);
    if (padded) out.valid.select(0, i).narrow(0, 0, series.size(1)).fill_(true);
    out.labels.mutable_data_ptr<int64_t>()[i] = set.labels[sample];
  }
  return out;
}

std::string hash_of(const SeriesCollection& set) {
  std::string all;
  const auto add = [&](std::span<const std::byte> bytes) { all += content_hash(bytes); };
  for (const at::Tensor& series : set.samples)
    add(std::as_bytes(std::span(series.const_data_ptr<float>(), static_cast<size_t>(series.numel()))));
  for (const auto* list : {&set.labels, &set.train, &set.validation, &set.test})
    add(std::as_bytes(std::span(*list)));
  return content_hash(std::as_bytes(std::span(all)));
}

}  // namespace modewise::data
