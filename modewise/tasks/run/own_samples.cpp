#include "modewise/tasks/run/own_samples.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainingSamples = "training_samples.npy";

/// "40 training, 12 validation and 20 test samples" of a data.json that counts them, else "".
std::string counts_of(const Json& data) {
  if (!data.contains("samples")) return "";
  const auto count = [&](const char* split) { return data["samples"].value(split, int64_t{0}); };
  return fmt::format("{} training, {} validation and {} test samples", count("train"), count("validation"),
                     count("test"));
}

/// How many samples of these `contents` are in the run's list of training samples.
int64_t trained_count(const train::RunFolder& folder, std::span<const uint64_t> contents) {
  const std::filesystem::path file = folder.file(kTrainingSamples);
  if (contents.empty() || !std::filesystem::exists(file)) return 0;
  const io::Array array = io::read_npy(file.string());
  require(array.dtype == io::Array::u64 && array.shape.size() == 1, ErrorKind::data,
          "{}: expected [n] of uint64, got {} [{}]", file.string(), io::dtype_name(array.dtype),
          fmt::join(array.shape, ", "));
  std::vector<uint64_t> known(static_cast<size_t>(array.size()));
  std::memcpy(known.data(), array.bytes.data(), array.bytes.size());
  std::ranges::sort(known);
  return std::ranges::count_if(contents,
                               [&](uint64_t one) { return std::ranges::binary_search(known, one); });
}

}  // namespace

bool load_and_compare(Run& run, bool with_test, const std::function<void(bool)>& load) {
  const auto trained = read_run_data(run.folder()).value("hash", std::string());
  bool loaded = with_test && !data_json_leaves_test_out(run.folder(), run.settings().train);
  load(loaded);
  bool same = trained.empty() || run.hash() == trained;
  if (!same && (!loaded || !run.settings().train.test)) {
    load(loaded = !loaded);
    same = run.hash() == trained;
  }
  if (loaded != with_test) load(with_test);
  return same;
}

void refuse_changed(const Run& run, const std::string& source) {
  const std::string then = counts_of(read_run_data(run.folder())), now = counts_of(run.describe());
  fail(ErrorKind::data,
       "{0} has changed since the training of {1}{2}; --data {3} evaluates it as it is now and leaves the "
       "results of the run as they are",
       source, run.folder().path().string(),
       then.empty() || now.empty() ? ""
       : then == now               ? fmt::format(": {} then and now, but others", then)
                                   : fmt::format(": {} then, {} now", then, now),
       command_word(source));
}

void keep_training_samples(const train::RunFolder& folder, std::span<const int64_t> train,
                           std::span<const uint64_t> contents) {
  if (!train::workers().is_rank_zero()) return;
  io::Array array{io::Array::u64, {std::ssize(train)}, std::vector<std::byte>(train.size_bytes())};
  for (size_t i = 0; i < train.size(); ++i)
    std::memcpy(array.bytes.data() + i * sizeof(uint64_t), &contents[static_cast<size_t>(train[i])],
                sizeof(uint64_t));
  io::write_npy(folder.file(kTrainingSamples), array);
}

void announce_others(const Run& run, const std::string& source, const std::string& count,
                     std::span<const uint64_t> contents, bool all) {
  const std::string trained = read_run_data(run.folder()).value("source", std::string());
  const int64_t known = trained_count(run.folder(), contents);
  const char* used = all ? ": all of them are used, without a split" : "";
  if (known > 0)
    spdlog::warn(
        "{}: {}, of which {} {} in the training split of the run ({}), which makes its results too good{}",
        source, count, known, is_or_are(known), trained, used);
  else if (all)
    spdlog::info("{}: {}, which are not the training data of the run ({}){}", source, count, trained, used);
}

}  // namespace modewise::tasks
