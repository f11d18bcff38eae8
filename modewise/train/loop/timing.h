#pragma once
// What a training took: timing.json of its run, which says nothing about the result and differs between
// machines.

#include <cstdint>
#include <nlohmann/json.hpp>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// Seconds on the clock, and of the processor over all threads of the process.
struct Elapsed {
  double seconds = 0, processor_seconds = 0;
  int64_t count = 0;
};

class Timing {
 public:
  /// Calls `work` and adds what it took; a call that throws is not counted.
  template <class Work>
  static void measure(Elapsed& elapsed, Work&& work) {
    const Elapsed before = now();
    work();
    const Elapsed after = now();
    elapsed.seconds += after.seconds - before.seconds;
    elapsed.processor_seconds += after.processor_seconds - before.processor_seconds;
    ++elapsed.count;
  }

  Elapsed steps;
  Elapsed evaluations;          // on validation, while training
  double seconds_waited = 0;  // those of `steps` in which the training thread waited for other processes
  Workers::Traffic traffic;

  /// {"steps": {"count", "seconds", "processor_seconds"}, "evaluations": the same, "peak_memory_bytes",
  /// "exchange": {"bytes_sent", "seconds", "seconds_waited_in_steps"} where there are other processes} of
  /// this process: of a resumed training what came after the resume. `seconds` are all that messages took,
  /// behind the backward pass and in evaluations, too.
  nlohmann::ordered_json to_json() const;

 private:
  static Elapsed now();
};

}  // namespace modewise::train
