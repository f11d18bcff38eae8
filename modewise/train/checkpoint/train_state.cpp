#include "modewise/train/checkpoint/train_state.h"

#include <fmt/format.h>

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
          {"metrics_bytes", metrics_bytes}};
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
  return state;
}

Json config_to_json(const TrainConfig& config) {
  TrainConfig copy = config;
  Json json = Json::object();
  const Fields fields = fields_of(copy);
  for (const Field& field : fields.list()) json[field.path] = Fields::value_text(field);
  return json;
}

std::vector<std::string> config_differences(const TrainConfig& config, const Json& saved) {
  const Json now = config_to_json(config), defaults = config_to_json(TrainConfig());
  std::vector<std::string> differences;
  for (const auto& [path, text] : now.items()) {
    const Json& before = saved.contains(path) ? saved.at(path) : defaults.at(path);
    if (changes_numbers(path) && before != text)
      differences.push_back(
          fmt::format("{} was {}, is {}", path, before.get<std::string>(), text.get<std::string>()));
  }
  return differences;
}

}  // namespace modewise::train
