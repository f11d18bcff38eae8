#include "modewise/train/loop/timing.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace modewise::train {
namespace {

int64_t own_peak_memory() {
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

void Timing::add(const nlohmann::ordered_json& earlier) {
  const auto number = [&](const std::string& path) {
    const nlohmann::ordered_json::json_pointer pointer(path);
    return earlier.contains(pointer) && earlier.at(pointer).is_number() ? earlier.at(pointer).get<double>()
                                                                        : 0.0;
  };
  const auto add_to = [&](Elapsed& elapsed, const std::string& path) {
    elapsed.seconds += number(path + "/seconds");
    elapsed.processor_seconds += number(path + "/processor_seconds");
    elapsed.count += static_cast<int64_t>(number(path + "/count"));
  };
  add_to(steps, "/steps");
  add_to(evaluations, "/evaluations");
  traffic.bytes += static_cast<int64_t>(number("/exchange/bytes_sent"));
  traffic.seconds += number("/exchange/seconds");
  seconds_waited += number("/exchange/seconds_waited_in_steps");
  peak_memory = std::max(peak_memory, static_cast<int64_t>(number("/peak_memory_bytes")));
}

nlohmann::ordered_json Timing::to_json() const {
  nlohmann::ordered_json out = {{"steps", train::to_json(steps)},
                                {"evaluations", train::to_json(evaluations)},
                                {"peak_memory_bytes", std::max(peak_memory, own_peak_memory())}};
  if (traffic.bytes > 0)
    out["exchange"] = {{"bytes_sent", traffic.bytes},
                       {"seconds", traffic.seconds},
                       {"seconds_waited_in_steps", seconds_waited}};
  return out;
}

}  // namespace modewise::train
