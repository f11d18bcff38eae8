#pragma once
// Sample tasks for sweep tests.

#include <vector>

#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

inline const std::vector<SweepTask> kTasks = {
    {"forecasting",
     "forecast",
     {{"/best/val_mse", "validation MSE"}, {"/best/val_mae", "validation MAE"}},
     {"model.heads", "model.layers"}},
    {"volume_classification",
     "classify-volumes",
     {{"/validation/auc", "validation AUC %", "highest", 1, 100}}},
    {"language_modeling", "language", {{"/validation/loss", "validation loss", "lowest", 4}}}};

}  // namespace modewise::sweep
