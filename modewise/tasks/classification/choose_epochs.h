#pragma once
// How long a classifier is trained where the config leaves it open.

#include <cstdint>

#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

/// Sets train.epochs where it is open (−1): `usual` passes over so many training samples, or more where they
/// would be fewer than 500 steps of the optimiser, at most 500. Says on stderr that it gave more. An open
/// config's patience grows with them.
void choose_epochs(train::TrainConfig& train, int64_t samples, int64_t usual);

}  // namespace modewise::tasks
