#include "modewise/models/ensemble_config.h"

namespace modewise::models {

void EnsembleConfig::fields(Fields& f) {
  f.add("runs", runs, "run folders whose models an ensemble puts together", {.is_path = always});
  f.add("members", members, "their models; taken from the runs");
  f.add("picks", picks, "greedy picks by which the weights are chosen on validation",
        {.min = 1, .max = 100000});
  f.add("splits", splits,
        "how many of the runs in a row are the same model, trained on as many splits of the same data",
        {.min = 1, .max = 1000});
}

}  // namespace modewise::models
