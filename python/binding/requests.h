#pragma once
// Requests of the Python package to the tasks, as JSON: {"command": "train", "task": "forecasting", …}. The
// members fill the structs of tasks/run/train_run.h, search_run.h and task_spec.h; a missing member keeps its
// default.

#include <nlohmann/json_fwd.hpp>

#include "modewise/tasks/run/result.h"

namespace modewise::python {

/// Commands: train, search, evaluate, predict, explain, backtest, show (summary of data), config (all
/// settings as TOML), encode and decode (by a run's tokenizer), weights (the verified file of a run's best
/// weights), task (the current name and command of a task). Throws as the tasks do; usage error for an
/// unknown command or task.
tasks::Result answer(const nlohmann::json& request);

}  // namespace modewise::python
