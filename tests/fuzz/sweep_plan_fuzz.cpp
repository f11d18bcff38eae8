#include <set>

#include "modewise/sweep/sweep_plan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"
#include "tests/sweep/tasks.h"

using namespace modewise;
using namespace modewise::io;
using namespace modewise::sweep;

// The runs have distinct names, and commands.
FUZZ_TARGET(sweep_plan) {
  static const InputFolder folder;
  folder.write("base.toml", "");
  const std::string file = folder.write("sweep.toml", input_text(data, size));
  return survive(
      [&] {
        const SweepPlan plan = read_sweep_plan(file, kTasks);
        expect(!plan.runs.empty() && std::ssize(plan.runs) <= kMaxRuns && !plan.metrics.empty());
        std::set<std::string> names;
        for (const SweepRun& run : plan.runs) {
          expect(names.insert(run.name).second && run.labels.size() == plan.axes.size());
          expect(run.name.find('/') == std::string::npos);
          if (names.size() > 8) continue;
          expect(!training_arguments(plan, run, folder.path(), 1, size % 2 == 0).empty());
          expect(!description(plan, run).empty());
        }
      },
      {ErrorKind::config, ErrorKind::no_input});
}
