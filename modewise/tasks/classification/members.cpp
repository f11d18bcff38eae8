#include "modewise/tasks/classification/members.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/test_split.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

/// Settings of the training/validation split.
constexpr std::array<std::string_view, 2> kSplits = {"data.split_seed", "data.validation_seed"};
/// Locations of the data, which may have been moved.
constexpr std::array<std::string_view, 3> kPlaces = {"data.path", "data.train", "data.test"};
/// Keys of data.json that may differ between runs with the same type of samples.
constexpr std::array<std::string_view, 7> kOwn = {"source", "name", "hash",     "samples",
                                                  "mean",   "std",  "deviation"};

template <class List>
bool holds(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string path_of(const OpenedRun& run) {
  return run.folder.path().string();
}

/// Whether an ensemble shares this setting with its members.
bool is_shared(const ClassificationRun& run, const std::string& setting) {
  return (setting.starts_with("data.") && !holds(kPlaces, setting)) ||
         holds(run.evaluation_settings(), setting);
}

/// `other_split`: the split settings may differ.
void require_same_settings(const OpenedRun& member, const OpenedRun& wanted, bool other_split) {
  const Fields come = member.run->fields(), fields = wanted.run->fields();
  for (size_t i = 0; i < fields.list().size(); ++i) {
    const std::string& setting = fields.list()[i].path;
    if (!is_shared(*member.run, setting) || (other_split && holds(kSplits, setting))) continue;
    const std::string own = Fields::value_text(come.list()[i]), value = Fields::value_text(fields.list()[i]);
    require(own == value, ErrorKind::config, "{}: {} = {}, but {} has {}", path_of(member), setting, own,
            path_of(wanted), value);
  }
}

Json data_of(const OpenedRun& run) {
  return read_run_data(run.folder, [](const Json& json, const std::string&) { return json; });
}

void require_same_kind(const ClassificationRun& ensemble, const OpenedRun& member) {
  const Json wanted = ensemble.describe(), come = data_of(member);
  for (const auto& [name, value] : wanted.items())
    require(holds(kOwn, name) || come.value(name, Json()) == value, ErrorKind::data,
            "{}: {} is {}, but {} has {}", path_of(member), name, come.value(name, Json()).dump(),
            ensemble.set().source, value.dump());
}

/// Samples and splits of a run, for comparison.
struct Samples {
  bool with_test = true;  // whether the hash includes the test split
  std::string hash;
  std::vector<int64_t> validation;  // labels

  bool equal(const Samples& other) const {
    return validation == other.validation && (with_test != other.with_test || hash == other.hash);
  }
};

/// Checks the samples of each member against the first model's run on the same split, and those of the first
/// run against the ensemble.
void require_same_samples(const ClassificationRun& ensemble, const std::vector<OpenedRun>& members,
                          const std::vector<metrics::ScoreTable>& scores) {
  const data::LabelledSamples& set = ensemble.set();
  Samples own{ensemble.training().test, ensemble.hash(), {}};
  for (const int64_t i : set.validation) own.validation.push_back(set.labels[static_cast<size_t>(i)]);
  std::vector<Samples> all;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto split = static_cast<int64_t>(i) % ensemble.ensemble()->splits;
    all.push_back(
        {!test_is_unread(members[i].folder), data_of(members[i]).value("hash", ""), scores[i].labels});
    require(all.back().equal(i == 0 ? own : all[static_cast<size_t>(split)]) &&
                scores[i].classes == ensemble.model().classes(),
            ErrorKind::data, "{} was trained or validated on different {} than {}", path_of(members[i]),
            set.many, i == 0 ? set.source : path_of(members[static_cast<size_t>(split)]));
  }
}

/// Weights of members from weights of models.
std::vector<double> spread_over(int64_t splits, const std::vector<double>& weights) {
  std::vector<double> out;
  for (const double weight : weights)
    out.insert(out.end(), static_cast<size_t>(splits), weight / static_cast<double>(splits));
  return out;
}

}  // namespace

std::vector<OpenedRun> open_members(const ClassificationRun& ensemble) {
  const models::EnsembleConfig& config = *ensemble.ensemble();
  require(!config.runs.empty(), ErrorKind::usage,
          "an ensemble needs runs: --set model.ensemble.runs=RUN,RUN");
  require(config.runs.size() > 1, ErrorKind::usage, "an ensemble needs several runs, got only {}",
          config.runs.front());
  const auto splits = static_cast<size_t>(config.splits);
  require(config.runs.size() % splits == 0, ErrorKind::config,
          "model.ensemble: {} runs are not a multiple of splits = {}", config.runs.size(), splits);
  std::vector<OpenedRun> members;
  for (size_t i = 0; i < config.runs.size(); ++i) {
    members.push_back(open_run(ensemble.create(), config.runs[i]));
    require(members[i].run->ensemble() == nullptr, ErrorKind::config,
            "{}: an ensemble cannot be a member of an ensemble", config.runs[i]);
    require_same_settings(members[i], members[i < splits ? 0 : i % splits], i < splits);
  }
  return members;
}

void share_settings(ClassificationRun& ensemble, ClassificationRun& member) {
  const Fields from = member.fields();
  Fields to = ensemble.fields();
  for (const Field& field : from.list())
    if (is_shared(member, field.path))
      to.load_toml(field.path + " = " + Fields::value_text(field), field.path);
}

std::optional<metrics::ClassMixture> join_members(
    const ClassificationRun& run,
    const std::function<void(int64_t number, const ClassificationRun& member)>& each) {
  const models::EnsembleConfig* config = run.ensemble();
  if (config == nullptr) return std::nullopt;
  const std::vector<OpenedRun> members = open_members(run);
  auto& model = dynamic_cast<models::ClassMembers&>(run.model());
  require(std::ssize(members) == model.members(), ErrorKind::config,
          "model.ensemble: {} runs, but {} members; set only runs for a new ensemble", members.size(),
          model.members());
  std::vector<metrics::ScoreTable> scores;
  for (const OpenedRun& member : members) {
    require_same_kind(run, member);
    scores.push_back(validation_scores(member.folder));
  }
  require_same_samples(run, members, scores);
  std::vector<metrics::MixedPart> parts(static_cast<size_t>(config->splits));
  for (size_t i = 0; i < members.size(); ++i) {
    train::copy_into(train::module_tensors(model.member(static_cast<int64_t>(i))),
                     train::module_tensors(members[i].run->model()));
    if (each) each(static_cast<int64_t>(i), *members[i].run);
    parts[i % parts.size()].push_back(std::move(scores[i]));
  }
  metrics::ClassMixture mixture = metrics::mix_classes(parts, run.options().select, config->picks);
  model.set_weights(spread_over(config->splits, mixture.weights));
  return mixture;
}

Json members_json(const ClassificationRun& ensemble) {
  const std::vector<double> weights = dynamic_cast<const models::ClassMembers&>(ensemble.model()).weights();
  Json all = Json::array();
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) all.push_back({{"run", ensemble.ensemble()->runs[i]}, {"weight", weights[i]}});
  return all;
}

}  // namespace modewise::tasks
