#pragma once
// What Python asks of the tasks, as JSON: {"command": "train", "kind": "forecast", …}. The names of the
// members are those of the structs that they fill (tasks/job.h, tasks/kind.h); what is left out keeps its
// default.

#include <nlohmann/json_fwd.hpp>

#include "modewise/tasks/result.h"

namespace modewise::python {

/// Commands: train, evaluate, predict, backtest, show (what data hold), config (all settings as TOML), encode
/// and decode (by a run's tokenizer), weights (the verified file of a run's best weights).
/// Throws as the tasks do; a usage error for a command that is none of these.
tasks::Result answer(const nlohmann::json& request);

}  // namespace modewise::python
