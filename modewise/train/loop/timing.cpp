#include "modewise/train/loop/timing.h"

#include <sys/resource.h>

#include <chrono>
#include <ctime>

namespace modewise::train {
namespace {

int64_t peak_memory() {
  rusage usage = {};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<int64_t>(usage.ru_maxrss) * 1024 : 0;
}

}  // namespace

nlohmann::ordered_json to_json(const Elapsed& elapsed) {
  return {{"count", elapsed.count},
          {"seconds", elapsed.seconds},
          {"processor_seconds", elapsed.processor_seconds}};
}

Elapsed Timing::now() {
  timespec processor = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor);
  const auto clock = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(clock).count(),
          static_cast<double>(processor.tv_sec) + 1e-9 * static_cast<double>(processor.tv_nsec), 0};
}

nlohmann::ordered_json Timing::to_json() const {
  nlohmann::ordered_json out = {{"steps", train::to_json(steps)},
                                {"evaluations", train::to_json(evaluations)},
                                {"peak_memory_bytes", peak_memory()}};
  if (traffic.bytes > 0)
    out["exchange"] = {{"bytes_sent", traffic.bytes},
                       {"seconds", traffic.seconds},
                       {"seconds_waited_in_steps", seconds_waited}};
  return out;
}

}  // namespace modewise::train
