#pragma once
// What a training took: timing.json of its run, which says nothing about the result and differs between
// machines.

#include <cstdint>
#include <nlohmann/json.hpp>

#include "modewise/train/workers.h"

namespace modewise::train {

/// Seconds on the clock, and of the processor over all threads of the process.
struct Spent {
  double seconds = 0, processor_seconds = 0;
  int64_t count = 0;
};

class Timing {
 public:
  /// Calls `work` and adds what it took; a call that throws is not counted.
  template <class Work>
  static void measure(Spent& spent, Work&& work) {
    const Spent before = now();
    work();
    const Spent after = now();
    spent.seconds += after.seconds - before.seconds;
    spent.processor_seconds += after.processor_seconds - before.processor_seconds;
    ++spent.count;
  }

  Spent steps;
  Spent evaluations;          // on validation, while training
  double seconds_waited = 0;  // those of `steps` in which the training thread waited for other processes
  Workers::Traffic traffic;

  /// {"steps": {"count", "seconds", "processor_seconds"}, "evaluations": the same, "peak_memory_bytes",
  /// "exchange": {"bytes_sent", "seconds", "seconds_waited_in_steps"} where there are other processes} of
  /// this process: of a resumed training what came after the resume. `seconds` are all that messages took,
  /// behind the backward pass and in evaluations, too.
  nlohmann::ordered_json to_json() const;

 private:
  static Spent now();
};

}  // namespace modewise::train
