#pragma once
// Training task of forecasting on a panel: windows drawn from each series, and validation by mean MASE.

#include <memory>

#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

class PanelRun;

/// The training of the run's model on the run's panel; `run` must outlive it.
std::unique_ptr<train::ModuleTask> make_panel_task(const PanelRun& run);

}  // namespace modewise::tasks
