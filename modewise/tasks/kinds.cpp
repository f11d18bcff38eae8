#include "modewise/tasks/kinds.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/tasks/captions/kind.h"
#include "modewise/tasks/forecast/kind.h"
#include "modewise/tasks/labelled_series/kind.h"
#include "modewise/tasks/language/kind.h"
#include "modewise/tasks/pictures/kind.h"
#include "modewise/tasks/scenes/kind.h"
#include "modewise/tasks/text/kind.h"
#include "modewise/tasks/volumes/kind.h"
#include "modewise/train/run_folder.h"
#include "modewise/train/workers.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

const Kind* find_kind(const std::string& name) {
  const auto found =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind* kind) { return kind->name == name; });
  return found == kinds().end() ? nullptr : *found;
}

const Kind* owner_of(const fs::path& data) {
  const auto found = std::find_if(kinds().begin(), kinds().end(),
                                  [&](const Kind* kind) { return kind->owns && kind->owns(data); });
  return found == kinds().end() ? nullptr : *found;
}

}  // namespace

const std::vector<const Kind*>& kinds() {
  static const std::vector<const Kind*> all = {&forecast_kind, &volumes_kind,         &scenes_kind,
                                               &text_kind,     &labelled_series_kind, &pictures_kind,
                                               &captions_kind, &language_kind};
  return all;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind* kind : kinds()) names.push_back(kind->name);
  return names;
}

const Kind& kind_of(const std::string& name) {
  const Kind* kind = find_kind(name);
  require(kind != nullptr, ErrorKind::usage, "there is no task '{}' (there are {})", name,
          fmt::join(kind_names(), ", "));
  return *kind;
}

const Kind& kind_of_run(const std::string& path) {
  for (const Kind* kind : kinds())
    if (kind->opens && kind->opens(path)) return *kind;
  const std::string name = train::RunFolder::open(path).task();
  const Kind* kind = find_kind(name);
  require(kind != nullptr, ErrorKind::data, "{}/manifest.json: there is no task '{}' (there are {})", path,
          name, fmt::join(kind_names(), ", "));
  return *kind;
}

const Kind& kind_of_runs(const std::vector<std::string>& paths) {
  const Kind& first = kind_of_run(paths.front());
  for (const std::string& path : paths) {
    const Kind& other = kind_of_run(path);
    require(&other == &first, ErrorKind::usage,
            "runs of one task can be set side by side, but {} is of '{}' and {} of '{}'", paths.front(),
            first.name, path, other.name);
  }
  return first;
}

void require_shares(const Kind& kind, const char* verb) {
  require(train::workers().size() == 1 || kind.in_shares, ErrorKind::usage,
          "one process has to {} runs of the task '{}': start it without torchrun", verb, kind.name);
}

const Kind& kind_of_data(const fs::path& path) {
  if (const Kind* kind = owner_of(path)) return *kind;
  if (fs::is_directory(path))
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (const Kind* kind = owner_of(entry.path())) return *kind;
  return *kinds().front();
}

bool wants_npz(const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  require(out.empty() || ending == ".npz" || ending == ".csv", ErrorKind::usage,
          "--out must end in .csv or .npz, got '{}'", out);
  return ending == ".npz";
}

void refuse_steps(const PredictRequest& request, const std::string& what) {
  require(request.steps == 0 && request.future.empty(), ErrorKind::usage, "--{} is for forecasts; {} is {}",
          request.steps != 0 ? "steps" : "future", request.run, what);
}

}  // namespace modewise::tasks
