#include "modewise/ops/kernel_info.h"

#include <torch/library.h>

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

namespace {

std::string kernel_summary_text() {
  std::string text;
  for (const auto& [op, kernels] : kernel_summary()) {
    text += op + ":";
    for (const auto& kernel : kernels) text += " " + kernel;
    text += "\n";
  }
  return text;
}

}  // namespace

// Python bindings.
TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("kernel_summary() -> str", kernel_summary_text);
  m.def("available_isas() -> str[]", available_isas);
  m.def("active_isa() -> str", active_isa);
  m.def("bits_promise() -> str", bits_promise);
  m.def("use_isa(str isa) -> ()", [](const std::string& isa) { use_isa(isa); });
  m.def("last_kernel(str op) -> str", [](const std::string& op) { return last_kernel(op); });
  m.def("use_reference(bool on) -> ()", use_reference);
}

}  // namespace modewise::ops
