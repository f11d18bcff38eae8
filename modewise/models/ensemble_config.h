#pragma once
// Options of an ensemble: a weighted mean of other runs' models.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

struct EnsembleConfig {
  std::vector<std::string> runs;     // run folders of the members, used at creation
  std::vector<std::string> members;  // member models, each as TOML
  int64_t picks = 50;                // picks of the greedy weight selection
  /// Number of consecutive runs that train the same model on different splits of the same data. 1: each run
  /// is a separate model.
  int64_t splits = 1;
  void fields(Fields& fields);

  int64_t models() const { return std::ssize(runs) / splits; }
};

}  // namespace modewise::models
