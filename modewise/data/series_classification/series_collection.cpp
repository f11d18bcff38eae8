#include "modewise/data/series_classification/series_collection.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
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

/// Files of a config, whose data.test replaces the test file of data.path. Without `with_test` the test file
/// may be missing.
CollectionFiles files_of(const CollectionConfig& config, bool with_test) {
  if (!config.train.empty()) return {config.train, config.test};
  require(!config.path.empty(), ErrorKind::config,
          "data.path: expected a folder or file of series, got none");
  require(fs::exists(config.path), ErrorKind::no_input, "there is no file or folder {}", config.path);
  if (fs::is_directory(config.path))
    return {file_of_part(config.path, "_TRAIN"),
            !with_test || !config.test.empty() ? config.test : file_of_part(config.path, "_TEST")};
  const fs::path path(config.path);
  const std::string ending = path.extension().string(), stem = path.stem().string();
  bool is_part = false;
  for (const auto& [own, other] : {std::pair("_TRAIN", "_TEST"), std::pair("_TEST", "_TRAIN")}) {
    if (!stem.ends_with(own)) continue;
    is_part = true;
    const std::string twin =
        path.parent_path() / (stem.substr(0, stem.size() - std::string(own).size()) + other + ending);
    if (!fs::exists(twin)) break;
    CollectionFiles files{config.path, twin};
    if (std::string(own) == "_TEST") std::swap(files.train, files.test);
    if (!config.test.empty()) files.test = config.test;
    return files;
  }
  return {config.path, config.test, !is_part && config.test.empty()};
}

/// Appends the samples of a file, with classes matched by name. Without `labelled` another class is none.
void append(SeriesCollection& set, RawSamples raw, const std::string& part, bool labelled = true) {
  const NameIndex known(set.classes);
  std::vector<std::optional<size_t>> places;  // of the file's classes in the set's
  for (const std::string& name : raw.classes) places.push_back(known.find(name));
  const size_t count = raw.samples.size();
  set.labels.reserve(set.labels.size() + count);
  for (size_t i = 0; i < count; ++i) {
    int32_t label = raw.labels[i];
    if (label >= 0 && !places[static_cast<size_t>(label)]) {
      require(!labelled, ErrorKind::data,
              "{}: sample {} has class '{}', which no training sample has (there are {})", raw.source, i + 1,
              raw.classes[static_cast<size_t>(label)], listed_names(set.classes));
      label = -1;
    }
    set.labels.push_back(label < 0 ? -1 : static_cast<int64_t>(*places[static_cast<size_t>(label)]));
    if (raw.missing > 0) fill_gaps(raw.samples.values(i), set.variables);
  }
  raw.labels = {};
  set.samples.append(std::move(raw.samples));
  const size_t before = set.labels.size() - count;
  set.numbered.add(part, count);
  if (!raw.names.empty() || !set.names.empty())
    for (size_t i = set.names.size(); i < before + count; ++i)
      set.names.push_back(raw.names.empty() || i < before ? set.numbered[i]
                                                          : std::move(raw.names[i - before]));
  if (set.unlabelled.empty()) set.unlabelled = raw.unlabelled;
  for (std::string& warning : raw.warnings) add_warning(set, std::move(warning));
  if (raw.missing > 0)
    set.notes.push_back(fmt::format("{}: {} filled by linear interpolation", raw.source,
                                    counted(raw.missing, "missing value")));
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
  require(test.variables == train.variables, ErrorKind::data, "{}: series of {}, but {} has {}", test.source,
          counted(test.variables, "dimension"), train.source, train.variables);
  require(!test.classes.empty(), ErrorKind::data, "{}: the test samples have no classes", test.source);
}

/// Calls `each` with the samples of each class, shuffled by the seed.
void for_each_shuffled_class(const SeriesCollection& set, std::vector<int64_t> samples, uint64_t seed,
                             const std::function<void(std::span<const int64_t> members)>& each) {
  std::vector<std::vector<int64_t>> by_class = samples_by_class(set, samples);
  samples = {};
  for (size_t label = 1; label < by_class.size(); ++label) {
    std::vector<int64_t> members = std::exchange(by_class[label], {});
    std::vector<int64_t> shuffled =
        random_permutation(std::ssize(members), {seed, RandomSite::splits, static_cast<uint64_t>(label)});
    for (int64_t& at : shuffled) at = members[static_cast<size_t>(at)];
    members = {};
    each(shuffled);
  }
}

/// Stratified split into training, validation and test; each class keeps at least one training sample.
void split_again(SeriesCollection& set, std::vector<int64_t> samples, double validation, double test,
                 uint64_t seed) {
  set.train.reserve(samples.size());
  for_each_shuffled_class(set, std::move(samples), seed, [&](std::span<const int64_t> members) {
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
  });
  for (auto* list : {&set.train, &set.validation, &set.test}) std::sort(list->begin(), list->end());
}

/// Puts a fraction of each class into the test split, independent of the config's seed; returns the others.
std::vector<int64_t> keep_test_samples(SeriesCollection& set, std::vector<int64_t> samples) {
  std::vector<int64_t> others;
  others.reserve(samples.size());
  for_each_shuffled_class(set, std::move(samples), kTestSeed, [&](std::span<const int64_t> members) {
    const auto n = static_cast<double>(members.size());
    const int64_t share = std::llround(kTestShare * n);
    const auto kept = members.begin() + (n >= 3 ? std::max<int64_t>(share, 1) : 0);
    set.test.insert(set.test.end(), members.begin(), kept);
    others.insert(others.end(), kept, members.end());
  });
  std::sort(others.begin(), others.end());
  return others;
}

/// `all`: the training samples are all samples.
void make_splits(SeriesCollection& set, const CollectionConfig& config, int64_t training_samples, bool all) {
  std::vector<int64_t> own;
  own.reserve(static_cast<size_t>(training_samples));
  for (int64_t i = 0; i < set.count(); ++i) (i < training_samples ? own : set.test).push_back(i);
  const auto seed = static_cast<uint64_t>(config.split_seed);
  if (config.protocol == "tslib") {
    set.train = own;
    set.validation = set.test;
    add_warning(
        set,
        "protocol tslib: the weights are selected ON THE TEST SAMPLES and each split is scaled on its "
        "own, like Time-Series-Library; the accuracy is an upper bound, not an estimate");
  } else if (config.protocol == "paper") {
    own.insert(own.end(), set.test.begin(), set.test.end());
    set.test.clear();
    split_again(set, std::move(own), 0.1, 0.1, seed);
    set.notes.push_back(fmt::format("protocol paper: random split of all {} samples by class with seed {}",
                                    set.count(), config.split_seed));
  } else if (all) {
    split_again(set, keep_test_samples(set, std::move(own)), config.validation_share, 0, seed);
    set.notes.push_back(
        fmt::format("no test file: {} of the {} samples {} the test split, independent of data.split_seed",
                    set.test.size(), set.count(), is_or_are(set.test.size())));
  } else {
    split_again(set, std::move(own), config.validation_share, 0, seed);
  }
}

/// Reads the test samples if they are requested, or if the protocol splits all samples.
std::optional<RawSamples> read_test_samples(const CollectionConfig& config, const std::string& file,
                                            bool with_test, const RawSamples& train) {
  if (!with_test && config.protocol != "paper") return std::nullopt;
  if (config.is_simulated())
    return simulate_motifs(config.motifs, static_cast<uint64_t>(config.split_seed), true);
  SampleColumns columns = config.columns;
  if (!train.index.empty()) columns.index = train.index;
  return file.empty() ? std::nullopt : std::optional(read_samples(file, columns, false, train.form));
}

/// Mean and standard deviation of each variable over `samples`; `sample`: with ddof 1.
VariableScale fit_scale(const SeriesCollection& set, const std::vector<int64_t>& samples, bool sample) {
  const auto variables = static_cast<size_t>(set.variables);
  VariableScale scale{std::vector<double>(variables, 0), std::vector<double>(variables, 1)};
  for (size_t v = 0; v < variables; ++v) {
    const auto each = [&](const auto& add) {
      for (const int64_t i : samples) {
        const int64_t steps = set.samples.steps(static_cast<size_t>(i));
        const float* x = set.samples.values(static_cast<size_t>(i)).data() + static_cast<int64_t>(v) * steps;
        for (int64_t t = 0; t < steps; ++t)
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
void apply_scale(const SeriesSamples& samples, int64_t sample, const VariableScale& scale) {
  const int64_t steps = samples.steps(static_cast<size_t>(sample));
  for (int64_t v = 0; v < samples.variables(); ++v) {
    float* x = samples.values(static_cast<size_t>(sample)).data() + v * steps;
    const bool scaled = !scale.mean.empty();
    const double mean = scaled ? scale.mean[static_cast<size_t>(v)] : 0,
                 stddev = scaled ? scale.stddev[static_cast<size_t>(v)] : 1;
    for (int64_t t = 0; t < steps; ++t)
      x[t] = std::isnan(x[t]) ? 0.0f : static_cast<float>((static_cast<double>(x[t]) - mean) / stddev);
  }
}

void scale_samples(SeriesCollection& set, const std::string& normalize) {
  for (int64_t i = 0; i < set.count(); ++i)
    apply_scale(set.samples, i, normalize == "sample" ? fit_scale(set, {i}, false) : set.scale);
}

void scale_by_protocol(SeriesCollection& set, const CollectionConfig& config) {
  if (config.normalize != "variable") return scale_samples(set, config.normalize);
  const bool tslib = config.protocol == "tslib";
  set.scale = fit_scale(set, set.train, tslib);
  if (!tslib) return scale_samples(set, config.normalize);
  const VariableScale own = fit_scale(set, set.test, true);
  for (const int64_t i : set.train) apply_scale(set.samples, i, set.scale);
  for (const int64_t i : set.test) apply_scale(set.samples, i, own);
}

/// Hashes the samples before they are scaled.
void hash_values(SeriesCollection& set) {
  hash_contents(set, [&](size_t i) { return content_number(std::as_bytes(set.samples.values(i))); });
}

/// Training and test samples need a class.
void require_classes(const RawSamples& raw) {
  require(raw.unlabelled.empty(), ErrorKind::data,
          "{}: the sample has no class; training and test samples need one: add it, or remove the sample",
          raw.unlabelled);
}

}  // namespace

bool SeriesCollection::padded() const {
  return !samples.all_have(length);
}

SeriesCollection load_collection(const CollectionConfig& config, bool with_test, const TableForm& trained) {
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
  RawSamples train = config.is_simulated() ? simulate_motifs(config.motifs, seed, false)
                                           : read_samples(files.train, config.columns, true, trained);
  std::optional<RawSamples> test = read_test_samples(config, files.test, with_test, train);
  require(!train.classes.empty(), ErrorKind::data, "{}: the training samples have no classes", train.source);
  require_classes(train);
  if (test) require_fitting(train, *test);

  SeriesCollection set;
  set.variables = train.variables;
  set.index = train.index;
  set.form = train.form;
  set.name = train.name;
  set.source = config.path.empty() ? config.train : config.path;
  std::vector<const RawSamples*> known = {&train};
  if (test && config.protocol == "paper") known.push_back(&*test);
  set.classes = classes_of(known);
  require(set.classes.size() >= 2, ErrorKind::data,
          "{}: all samples have class '{}'; a classifier needs two classes", train.source,
          fmt::join(set.classes, ""));
  warn_of_similar_classes(set);
  const auto training_samples = static_cast<int64_t>(train.samples.size());
  if (training_samples > 2 && training_samples == std::ssize(set.classes))
    add_warning(set,
                fmt::format("{}: each of the {} samples has a class of its own ({}); is the class column an "
                            "index? data.label names the class column",
                            train.source, training_samples, listed_names(set.classes)));
  append(set, std::move(train), files.all ? "sample" : "train");
  if (test) append(set, std::move(*test), "test");
  make_splits(set, config, training_samples, all);
  if (!with_test) set.samples.keep(leave_test_out(set));
  hash_values(set);
  const int64_t longest = set.samples.longest();
  set.length = config.length > 0 ? config.length : longest;
  require(longest <= set.length, ErrorKind::data, "{}: the longest sample has {}, data.length = {}",
          set.source, counted(longest, "step"), config.length);
  if (!with_test && config.length == 0 && set.padded())
    set.notes.push_back(fmt::format(
        "test samples stay unread: any of more than {} steps will need a larger data.length", set.length));
  scale_by_protocol(set, config);
  return set;
}

SeriesCollection load_samples(const std::string& file, const std::string& normalize,
                              const TrainedSeries& trained, const SampleColumns& columns, bool labelled) {
  require(fs::exists(file), ErrorKind::no_input, "there is no file {}", file);
  TableForm form = trained.form;
  if (!trained.padded) form.steps = trained.length;
  RawSamples raw = read_samples(file, columns, false, form);
  require(raw.variables == trained.variables, ErrorKind::data,
          "{}: series of {}, but the run was trained on {}", file, counted(raw.variables, "dimension"),
          trained.variables);
  SeriesCollection set;
  set.variables = raw.variables;
  set.name = raw.name;
  set.source = file;
  set.classes = trained.classes;
  set.scale = trained.scale;
  append(set, std::move(raw), "sample", labelled);
  set.length = trained.length;
  require(set.samples.longest() <= set.length, ErrorKind::data,
          "{}: the longest sample has {}, but the model's maximum is {}; train with a larger data.length",
          file, counted(set.samples.longest(), "step"), set.length);
  require(
      trained.padded || !set.padded(), ErrorKind::data,
      "{}: samples of other lengths than {} steps, but the run was trained on samples of equal length, "
      "so its model takes no padding masks: cut or interpolate them to {}, or train on samples of several "
      "lengths",
      file, set.length, counted(set.length, "step"));
  set.test = set.split("all");
  hash_values(set);
  scale_samples(set, normalize);
  return set;
}

void split_if_own(SeriesCollection& set, const CollectionConfig& config, const std::string& trained,
                  bool with_test) {
  if (std::ranges::count(set.labels, -1) > 0 || config.protocol == "tslib") return;
  SeriesCollection own = set;
  own.test.clear();
  make_splits(own, config, own.count(), config.protocol == "official");
  const bool same = hash_of(own) == trained;
  if (!same || !with_test) {
    SeriesCollection rest = own;
    rest.samples = {};
    for (const int64_t i : leave_test_out(rest)) rest.samples.push_back(own.samples[static_cast<size_t>(i)]);
    if (!same && hash_of(rest) != trained) return;
    if (!with_test) own = std::move(rest);
  }
  set = std::move(own);
}

LabelledBatch gather_samples(const SeriesCollection& set, std::span<const int64_t> samples, int64_t length,
                             bool padded) {
  const auto batch = static_cast<int64_t>(samples.size());
  LabelledBatch out{at::zeros({batch, set.variables, length}, at::kFloat), {}, at::empty({batch}, at::kLong)};
  if (padded) out.valid = at::zeros({batch, length}, at::kBool);
  for (int64_t i = 0; i < batch; ++i) {
    const auto sample = static_cast<size_t>(samples[static_cast<size_t>(i)]);
    const at::Tensor series = set.samples[sample];
    out.values.select(0, i).narrow(1, 0, series.size(1)).copy_(series);
    if (padded) out.valid.select(0, i).narrow(0, 0, series.size(1)).fill_(true);
    out.labels.mutable_data_ptr<int64_t>()[i] = set.labels[sample];
  }
  return out;
}

std::string hash_of(const SeriesCollection& set) {
  ContentHash all;  // of the hashes of the parts
  const auto add = [&](std::span<const std::byte> bytes) { all.add(as_bytes(content_hash(bytes))); };
  for (size_t i = 0; i < set.samples.size(); ++i) add(std::as_bytes(set.samples.values(i)));
  for (const auto* list : {&set.labels, &set.train, &set.validation, &set.test})
    add(std::as_bytes(std::span(*list)));
  return all.text();
}

}  // namespace modewise::data
