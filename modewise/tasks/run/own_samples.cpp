#include "modewise/tasks/run/own_samples.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

/// "40 training, 12 validation and 20 test samples" of a data.json that counts them, else "".
std::string counts_of(const Json& data) {
  if (!data.contains("samples")) return "";
  const auto count = [&](const char* split) { return data["samples"].value(split, int64_t{0}); };
  return fmt::format("{} training, {} validation and {} test samples", count("train"), count("validation"),
                     count("test"));
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
       "{0} has changed since the training of {1}{2}; --data {0} evaluates it as it is now and leaves the "
       "results of the run as they are",
       source, run.folder().path().string(),
       then.empty() || now.empty() ? ""
       : then == now               ? fmt::format(": {} then and now, but others", then)
                                   : fmt::format(": {} then, {} now", then, now));
}

void announce_others(const Run& run, const std::string& source, const std::string& count) {
  spdlog::info("{}: {}, which are not the training data of the run ({}): all of them are evaluated", source,
               count, read_run_data(run.folder()).value("source", std::string()));
}

}  // namespace modewise::tasks
