#include "modewise/models/ensemble_config.h"

namespace modewise::models {

void EnsembleConfig::fields(Fields& f) {
  f.add("runs", runs, "run folders of the ensemble's members", {.is_path = always});
  f.add("members", members, "member models as TOML; filled in from runs");
  f.add("picks", picks, "picks of the greedy weight selection on the validation split",
        {.min = 1, .max = 100000});
  f.add("splits", splits,
        "consecutive runs that are the same model trained on different splits of the same data "
        "(cross-validation)",
        {.min = 1, .max = 1000});
}

}  // namespace modewise::models
