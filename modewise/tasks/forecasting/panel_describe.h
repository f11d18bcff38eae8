#pragma once
// Summary of a panel for `modewise data show`.

#include "modewise/data/forecasting/panel.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// Series, rows, time step, values and splits of the panel of `config`, and why it is read as a panel.
Result describe_panel(ForecastConfig config, data::PanelChoice choice);

}  // namespace modewise::tasks
