#include "modewise/tasks/classification/members.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/models/class_ensemble.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using Members = std::vector<std::unique_ptr<ClassificationRun>>;

/// Settings of the training/validation split.
constexpr std::array<std::string_view, 2> kSplitSettings = {"data.split_seed", "data.validation_seed"};
/// Locations of the data, which may have been moved.
constexpr std::array<std::string_view, 3> kPlaces = {"data.path", "data.train", "data.test"};
/// Keys of data.json that may differ between runs with the same type of samples.
constexpr std::array<std::string_view, 9> kOwn = {"source", "name",      "hash",      "samples",       "mean",
                                                  "std",    "deviation", "intensity", "intensity_unit"};

template <class List>
bool holds(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string path_of(const ClassificationRun& run) {
  return run.folder().path().string();
}

/// Whether an ensemble shares this setting with its members.
bool is_shared(const ClassificationRun& run, const std::string& setting) {
  return (setting.starts_with("data.") && !holds(kPlaces, setting)) ||
         holds(run.about().shared_settings, setting);
}

/// `other_split`: the split settings may differ.
void require_same_settings(ClassificationRun& member, ClassificationRun& wanted, bool other_split) {
  const Fields come = member.settings().fields, fields = wanted.settings().fields;
  for (size_t i = 0; i < fields.list().size(); ++i) {
    const std::string& setting = fields.list()[i].path;
    if (!is_shared(member, setting) || (other_split && holds(kSplitSettings, setting))) continue;
    const std::string own = Fields::value_text(come.list()[i]), value = Fields::value_text(fields.list()[i]);
    require(own == value, ErrorKind::config, "{}: {} = {}, but {} has {}", path_of(member), setting, own,
            path_of(wanted), value);
  }
}

void require_same_kind(const ClassificationRun& ensemble, const ClassificationRun& member) {
  const Json wanted = ensemble.describe(), come = read_run_data(member.folder());
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
void require_same_samples(ClassificationRun& ensemble, const Members& members,
                          const std::vector<metrics::ScoreTable>& scores) {
  const data::LabelledSamples& set = ensemble.set();
  Samples own{ensemble.settings().train.test, ensemble.hash(), {}};
  for (const int64_t i : set.validation) own.validation.push_back(set.labels[static_cast<size_t>(i)]);
  std::vector<Samples> all;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto split = static_cast<int64_t>(i) % ensemble.ensemble()->splits;
    const train::RunFolder& folder = members[i]->folder();
    all.push_back({!test_is_unread(folder), read_run_data(folder).value("hash", ""), scores[i].labels});
    require(all.back().equal(i == 0 ? own : all[static_cast<size_t>(split)]) &&
                scores[i].classes == ensemble.model().classes(),
            ErrorKind::data, "{} was trained or validated on different {} than {}", path_of(*members[i]),
            set.many, i == 0 ? set.source : path_of(*members[static_cast<size_t>(split)]));
  }
}

/// Weights of members from weights of models.
std::vector<double> spread_over(int64_t splits, const std::vector<double>& weights) {
  std::vector<double> out;
  for (const double weight : weights)
    out.insert(out.end(), static_cast<size_t>(splits), weight / static_cast<double>(splits));
  return out;
}

Members open_members(const ClassificationRun& ensemble) {
  const models::EnsembleConfig& config = *ensemble.ensemble();
  require(!config.runs.empty(), ErrorKind::usage,
          "an ensemble needs runs: --set model.ensemble.runs=RUN,RUN");
  require(config.runs.size() > 1, ErrorKind::usage, "an ensemble needs several runs, got only {}",
          config.runs.front());
  const auto splits = static_cast<size_t>(config.splits);
  require(config.runs.size() % splits == 0, ErrorKind::config,
          "model.ensemble: {} runs are not a multiple of splits = {}", config.runs.size(), splits);
  Members members;
  for (size_t i = 0; i < config.runs.size(); ++i) {
    members.push_back(open_run_as<ClassificationRun>(ensemble.about().task, config.runs[i]));
    require(members[i]->ensemble() == nullptr, ErrorKind::config,
            "{}: an ensemble cannot be a member of an ensemble", config.runs[i]);
    require_same_settings(*members[i], *members[i < splits ? 0 : i % splits], i < splits);
  }
  return members;
}

void share_settings(ClassificationRun& ensemble, ClassificationRun& member) {
  const Fields from = member.settings().fields;
  Fields to = ensemble.settings().fields;
  for (const Field& field : from.list())
    if (is_shared(member, field.path))
      to.load_toml(field.path + " = " + Fields::value_text(field), field.path);
}

}  // namespace

std::vector<std::string> read_members(ClassificationRun& ensemble) {
  const Members members = open_members(ensemble);
  share_settings(ensemble, *members.front());
  std::vector<std::string> texts;
  for (const auto& member : members) texts.push_back(member->member_toml());
  return texts;
}

metrics::ClassMixture join_members(
    ClassificationRun& ensemble, const std::function<void(int64_t number, ClassificationRun& member)>& each) {
  const models::EnsembleConfig& config = *ensemble.ensemble();
  const Members members = open_members(ensemble);
  auto& model = dynamic_cast<models::ClassMembers&>(ensemble.model());
  require(std::ssize(members) == model.members(), ErrorKind::config,
          "model.ensemble: {} runs, but {} members; set only runs for a new ensemble", members.size(),
          model.members());
  std::vector<metrics::ScoreTable> scores;
  for (const auto& member : members) {
    require_same_kind(ensemble, *member);
    scores.push_back(validation_scores(member->folder()));
  }
  require_same_samples(ensemble, members, scores);
  std::vector<metrics::MixedPart> parts(static_cast<size_t>(config.splits));
  for (size_t i = 0; i < members.size(); ++i) {
    train::copy_into(train::module_tensors(model.member(static_cast<int64_t>(i))),
                     train::module_tensors(members[i]->model()));
    if (each) each(static_cast<int64_t>(i), *members[i]);
    parts[i % parts.size()].push_back(std::move(scores[i]));
  }
  metrics::ClassMixture mixture = metrics::mix_classes(parts, ensemble.options().select, config.picks);
  model.set_weights(spread_over(config.splits, mixture.weights));
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
