#pragma once
// Default number of training epochs of classifiers.

#include <cstdint>

#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

/// Sets train.epochs if it is open (−1): `usual` epochs, or up to 500 for small sets, for at least 500
/// optimizer steps. Logs if it is more than `usual`. An open train.patience (−1) is 20 and grows with the
/// epochs.
void choose_epochs(train::TrainConfig& train, int64_t samples, int64_t usual);

}  // namespace modewise::tasks
