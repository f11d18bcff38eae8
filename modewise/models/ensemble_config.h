#pragma once
// The options of a model that is a weighted mean of other runs' models.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

struct EnsembleConfig {
  std::vector<std::string> runs;     // whose models it takes, when it is made
  std::vector<std::string> members;  // those models, each as TOML
  int64_t picks = 50;                // of the greedy choice of the weights
  /// How many of the runs in a row are trainings of the same model on as many splits of the same data. One
  /// split: each run is a model of its own.
  int64_t splits = 1;
  void fields(Fields& fields);

  int64_t models() const { return std::ssize(runs) / splits; }
};

}  // namespace modewise::models
