#include "modewise/ops/kernel_info.h"

#include <atomic>
#include <map>
#include <mutex>

#include "modewise/ops/kernel_list.h"

namespace modewise::ops {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>, std::less<>> kernels;
  std::map<std::string, const char*, std::less<>> last;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

std::atomic<bool> forced{false};

}  // namespace

bool reference_forced() {
  return forced.load(std::memory_order_relaxed);
}

void use_reference(bool on) {
  forced = on;
}

void note_kernel(const char* op, const char* kernel) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().last.find(std::string_view(op));
  if (found != registry().last.end())
    found->second = kernel;
  else
    registry().last.emplace(op, kernel);
}

void register_kernels(const char* op, std::vector<std::string> names) {
  const std::lock_guard lock(registry().mutex);
  registry().kernels[op] = std::move(names);
}

std::string last_kernel(std::string_view op) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().last.find(op);
  return found == registry().last.end() ? "" : found->second;
}

std::vector<KernelSummary> kernel_summary() {
  const std::lock_guard lock(registry().mutex);
  std::vector<KernelSummary> summary;
  for (const auto& [op, kernels] : registry().kernels) summary.push_back({op, kernels});
  return summary;
}

}  // namespace modewise::ops
