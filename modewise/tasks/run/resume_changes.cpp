#include "modewise/tasks/run/resume_changes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/train/checkpoint/train_state.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kListed = 5;  // differences of data in a sentence
constexpr const char* kHash = "data_hash";

// Members of data.json, as JSON pointers, for which a model is made; and those of its dates.
constexpr std::array<std::string_view, 17> kShape = {
    "/modes",   "/known/modes", "/ahead",    "/variables", "/id",     "/static_covariates",
    "/classes", "/columns",     "/channels", "/size",      "/length", "/padded",
    "/bands",   "/times",       "/window",   "/words",     "/missing"};
constexpr std::array<std::string_view, 5> kDates = {"/time/dated", "/time/start_text", "/time/step",
                                                    "/time/months", "/time/week"};
// Members of static covariates that follow from their values.
constexpr std::array<std::string_view, 2> kOfValues = {"mean", "std"};

/// Whether a setting changes what is trained or reported.
bool changes_results(const Field& field) {
  constexpr std::string_view kTrain = "train.";
  const std::string_view path = field.path;
  if (path.starts_with("output.") || (path.starts_with("data.") && field.rule.is_path != nullptr))
    return false;
  return !path.starts_with(kTrain) || path == "train.test" ||
         train::changes_numbers(path.substr(kTrain.size()));
}

Json results_json(Run& run) {
  const Fields fields = run.settings().fields;
  return train::fields_to_json(fields.only(changes_results));
}

std::string_view last_name(std::string_view pointer) {
  return pointer.substr(pointer.rfind('/') + 1);
}

/// Whether the pointer is in one of the members, and not derived from values.
bool lies_in(std::string_view pointer, std::span<const std::string_view> members) {
  return std::ranges::find(kOfValues, last_name(pointer)) == kOfValues.end() &&
         std::ranges::any_of(members, [&](std::string_view one) {
           return pointer.starts_with(one) && (pointer.size() == one.size() || pointer[one.size()] == '/');
         });
}

/// Whether a pointer names an element of a list.
bool is_element(std::string_view pointer) {
  return std::ranges::all_of(last_name(pointer), [](char c) { return c >= '0' && c <= '9'; });
}

/// Differences of the members of two data.json. Members that `saved` lacks, as files of earlier versions do,
/// do not count, unless they are elements of a list that it has.
std::vector<std::string> differences(const Json& saved, const Json& now,
                                     std::span<const std::string_view> members) {
  const Json before = saved.flatten(), after = now.flatten();
  const auto text = [](const Json& json, const std::string& pointer) {
    const auto found = json.find(pointer);
    return found == json.end() || found->is_null() ? "none" : found->dump();
  };
  std::vector<std::string> result;
  const auto compare = [&](const std::string& pointer) {
    const std::string was = text(before, pointer), is = text(after, pointer);
    if (was == is) return;
    std::string path = pointer.substr(1);
    std::ranges::replace(path, '/', '.');
    result.push_back(fmt::format("{} was {}, is {}", path, was, is));
  };
  for (const auto& [pointer, value] : before.items())
    if (lies_in(pointer, members)) compare(pointer);
  for (const auto& [pointer, value] : after.items()) {
    const bool added = lies_in(pointer, members) && !before.contains(pointer) && is_element(pointer);
    if (added && saved.contains(Json::json_pointer(pointer).parent_pointer())) compare(pointer);
  }
  return result;
}

std::string listed(const std::vector<std::string>& differences) {
  const size_t count = std::min(differences.size(), kListed);
  std::string text = fmt::format("{}", fmt::join(differences.begin(), differences.begin() + count, "; "));
  if (count < differences.size()) text += fmt::format("; and {} more", differences.size() - count);
  return text;
}

Json read_manifest(const train::RunFolder& folder) {
  const std::string file = folder.file("manifest.json").string();
  return std::filesystem::exists(file) ? parse_json<Json>(read_file(file), file) : Json::object();
}

}  // namespace

std::vector<std::string> changed_settings(const TaskSpec& task, const train::RunFolder& folder,
                                          const std::vector<std::string>& assignments) {
  if (assignments.empty()) return {};
  const std::unique_ptr<Run> saved = read_run_settings(task, folder),
                             now = task.create({folder.file("config.toml").string(), assignments});
  saved->settings().fields.make_paths_absolute();
  return train::differences(results_json(*saved), results_json(*now));
}

std::vector<std::string> changed_data(const Run& run) {
  const Json saved = read_run_data(run.folder()), now = run.describe();
  const std::vector<std::string> shape = differences(saved, now, kShape);
  require(shape.empty(), ErrorKind::data,
          "the training data has other columns, classes or sizes than that of {} ({}): train a new run on it",
          run.folder().path().string(), listed(shape));
  std::vector<std::string> result = differences(saved, now, kDates);
  const Json manifest = read_manifest(run.folder());
  const auto hash = manifest.find(kHash);
  if (hash != manifest.end() && *hash != run.hash())
    result.push_back(fmt::format("hash was {}, is {}", hash->dump(), Json(run.hash()).dump()));
  return result;
}

void require_same_data(const Run& run, const std::vector<std::string>& differences, bool accept_changes) {
  require(differences.empty() || accept_changes, ErrorKind::data,
          "the data differs from that of {} ({}): resume with the same, or accept the change with "
          "--allow-config-changes",
          run.folder().path().string(), listed(differences));
}

void write_changes(Run& run, const ResumeChanges& changes, bool steps_left) {
  const train::RunFolder& folder = run.folder();
  if (!steps_left) {
    std::vector<std::string> late = changes.data;
    std::ranges::copy_if(changes.settings, std::back_inserter(late),
                         [](const std::string& text) { return !text.starts_with("train."); });
    require(
        late.empty(), ErrorKind::config,
        "{} has no step left to train, so these cannot change ({}): train a new run, or evaluate this one "
        "on other data with modewise evaluate",
        folder.path().string(), listed(late));
    return;
  }
  if ((changes.settings.empty() && changes.data.empty()) || !train::workers().is_rank_zero()) return;
  const RunSettings settings = run.settings();
  folder.write_data(run.describe());
  if (Json manifest = read_manifest(folder); !manifest.empty()) {
    manifest["seed"] = settings.train.seed;
    manifest[kHash] = run.hash();
    manifest["test_read"] = settings.train.test;
    write_file_atomically(folder.file("manifest.json"), manifest.dump(1) + "\n");
  }
  folder.write_config(settings.fields.to_toml());
}

}  // namespace modewise::tasks
