#include "modewise/train/checkpoint/training_files.h"

#include <string>

#include "modewise/core/error.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::train {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kRun = "run_id";

/// The value of a key in state.json, `usual` if missing. Data error for a value of another type.
template <class Value>
Value state_value(const Checkpoint& checkpoint, const char* key, const Value& usual) {
  try {
    return checkpoint.state.value(key, usual);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}/state.json: {}", checkpoint.folder.string(), error.what());
  }
}

}  // namespace

void save_training(const CheckpointStore& store, const TrainingParts& parts) {
  Task& task = parts.task;
  Json json = parts.state.to_json();
  json["format"] = 1;
  if (!parts.run.empty()) json[kRun] = parts.run;
  json["seed"] = parts.config.seed;
  json["training_samples"] = task.training_samples();
  json["data_hash"] = task.data_hash();
  json["config"] = config_to_json(parts.config);
  json["task"] = task.state();
  std::vector<CheckpointFile> files = {weight_file("model.safetensors", task.tensors()),
                                       weight_file("optimizer.safetensors", parts.optimizer.state())};
  if (parts.average) files.push_back(weight_file("ema.safetensors", parts.average->state()));
  if (parts.state.best_step >= 0) files.push_back(weight_file("best.safetensors", parts.best_weights));
  if (const auto extra = task.extra_tensors(); !extra.empty())
    files.push_back(weight_file("task.safetensors", extra));
  store.save(parts.state.step, json, files, parts.config.keep_checkpoints);
}

void load_training(const Checkpoint& checkpoint, const TrainingParts& parts, bool accept_changes) {
  Task& task = parts.task;
  const std::string name = checkpoint.folder.string();
  try {
    const Json& json = checkpoint.state;
    require_same_settings(config_differences(parts.config, json.at("config")), accept_changes);
    const auto samples = json.at("training_samples").get<int64_t>();
    const auto hash = json.at("data_hash").get<std::string>();
    require((samples == task.training_samples() && hash == task.data_hash()) || accept_changes,
            ErrorKind::data,
            "the training data differs from that of {} ({} samples, hash {}; now {} samples, hash {})", name,
            samples, hash, task.training_samples(), task.data_hash());
    parts.state = TrainState::from_json(json);
    load_tensors(checkpoint.folder / "model.safetensors", task.tensors());
    load_tensors(checkpoint.folder / "optimizer.safetensors", parts.optimizer.state());
    parts.optimizer.set_steps_made(parts.state.step);
    if (parts.average && checkpoint.has("ema.safetensors"))
      load_tensors(checkpoint.folder / "ema.safetensors", parts.average->state());
    else if (parts.average)
      parts.average.emplace(task.trained(), task.tensors(), parts.config.ema_decay);
    if (checkpoint.has("best.safetensors")) {
      parts.best_weights = copies_of(task.tensors());
      load_tensors(checkpoint.folder / "best.safetensors", parts.best_weights);
    }
    if (const auto extra = task.extra_tensors(); !extra.empty())
      load_tensors(checkpoint.folder / "task.safetensors", extra);
    task.load_state(json.at("task"));
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}/state.json: {}", name, error.what());
  }
}

std::string run_of(const Checkpoint& checkpoint) {
  return state_value(checkpoint, kRun, std::string());
}

int64_t best_step_of(const Checkpoint& checkpoint) {
  return state_value(checkpoint, "best_step", checkpoint.step);
}

}  // namespace modewise::train
