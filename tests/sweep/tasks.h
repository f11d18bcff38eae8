#pragma once
// Tasks such as the program hands to sweeps.

#include <vector>

#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

inline const std::vector<SweepTask> kTasks = {
    {"forecast", {{"/best/val_mse", "validation MSE"}, {"/best/val_mae", "validation MAE"}}},
    {"classify", {{"/validation/auc", "validation AUC %", "highest", 1, 100}}},
    {"language", {{"/validation/loss", "validation loss", "lowest", 4}}}};

}  // namespace modewise::sweep
