#pragma once
// Timing of a training (timing.json of its run): depends on the machine, not on the result.

#include <cstdint>
#include <nlohmann/json.hpp>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// Wall-clock seconds, and CPU seconds over all threads of the process.
struct Elapsed {
  double seconds = 0, processor_seconds = 0;
  int64_t count = 0;
};
/// {"count", "seconds", "processor_seconds"}.
nlohmann::ordered_json to_json(const Elapsed& elapsed);

class Timing {
 public:
  /// Calls `work` and adds its time; a call that throws is not counted.
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
  Elapsed evaluations;        // on the validation split, during training
  double seconds_waited = 0;  // part of `steps`: training thread waiting for other processes
  Workers::Traffic traffic;
  int64_t peak_memory = 0;  // of earlier processes, in bytes

  /// Adds the times of the processes that trained the run before, from their to_json().
  void add(const nlohmann::ordered_json& earlier);
  /// {"steps": {"count", "seconds", "processor_seconds"}, "evaluations": the same, "peak_memory_bytes",
  /// "exchange": {"bytes_sent", "seconds", "seconds_waited_in_steps"} with several processes}. The
  /// exchange's `seconds` include communication during the backward pass and in evaluations.
  nlohmann::ordered_json to_json() const;

 private:
  static Elapsed now();
};

}  // namespace modewise::train
