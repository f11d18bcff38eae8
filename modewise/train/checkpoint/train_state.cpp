#include "modewise/train/checkpoint/train_state.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/train/loop/sample_order.h"

namespace modewise::train {

using Json = nlohmann::ordered_json;

Json TrainState::to_json() const {
  return {{"step", step},
          {"evaluated_step", evaluated_step},
          {"best_step", best_step},
          {"best", train::to_json(best)},
          {"last", train::to_json(last)},
          {"without_improvement", without_improvement},
          {"loss_sum", loss_sum},
          {"loss_steps", loss_steps},
          {"metrics_bytes", metrics_bytes},
          {"epoch_offset", epoch_offset}};
}

TrainState TrainState::from_json(const Json& json) {
  TrainState state;
  json.at("step").get_to(state.step);
  json.at("evaluated_step").get_to(state.evaluated_step);
  json.at("best_step").get_to(state.best_step);
  state.best = metrics_from_json(json.at("best"));
  state.last = metrics_from_json(json.at("last"));
  json.at("without_improvement").get_to(state.without_improvement);
  json.at("loss_sum").get_to(state.loss_sum);
  json.at("loss_steps").get_to(state.loss_steps);
  json.at("metrics_bytes").get_to(state.metrics_bytes);
  state.epoch_offset = json.value("epoch_offset", int64_t{0});
  return state;
}

Json fields_to_json(const Fields& fields) {
  Json json = Json::object();
  for (const Field& field : fields.list()) json[field.path] = Fields::value_text(field);
  return json;
}

Json config_to_json(const TrainConfig& config) {
  TrainConfig copy = config;
  return fields_to_json(fields_of(copy));
}

int64_t saved_steps_per_epoch(const Json& state) {
  TrainConfig saved;
  Fields fields = fields_of(saved);
  for (const std::string path : {"batch_size", "drop_last", "accumulate"})
    if (const Json& config = state.at("config"); config.contains(path))
      fields.set(path + "=" + config.at(path).get<std::string>());
  const auto samples = state.at("training_samples").get<int64_t>();
  return SampleOrder(samples, saved.batch_size, saved.drop_last, saved.accumulate, 0).steps_per_epoch();
}

std::vector<std::string> differences(const Json& saved, const Json& now) {
  std::vector<std::string> result;
  for (const auto& [path, text] : now.items()) {
    const auto before = saved.at(path).get<std::string>(), after = text.get<std::string>();
    if (before != after) result.push_back(fmt::format("{} was {}, is {}", path, before, after));
  }
  return result;
}

void require_same_settings(const std::vector<std::string>& differences, bool accept_changes) {
  require(differences.empty() || accept_changes, ErrorKind::config,
          "this run was started with other settings ({}): resume with the same, or accept the change with "
          "--allow-config-changes",
          fmt::join(differences, "; "));
}

std::vector<std::string> config_differences(const TrainConfig& config, const Json& saved) {
  TrainConfig copy = config;
  const Fields fields = fields_of(copy);
  Json before = config_to_json(TrainConfig());
  before.update(saved);
  return differences(
      before, fields_to_json(fields.only([](const Field& field) { return changes_numbers(field.path); })));
}

}  // namespace modewise::train
