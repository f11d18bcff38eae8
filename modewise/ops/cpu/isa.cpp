#include <ATen/Version.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/kernel_info.h"

namespace modewise::ops {

namespace scalar {
extern const Loops table;
}
#if defined(MODEWISE_X86_LOOPS)
namespace avx2 {
extern const Loops table;
}
namespace avx512 {
extern const Loops table;
}
namespace avx512bf16 {
extern const Loops table;
}
#endif

namespace {

bool has_avx2() {
#if defined(MODEWISE_X86_LOOPS)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// libtorch chooses kernels by CPU as well: softmax, sigmoid and their kind add and round in other ways for
/// AVX-512. Those for AVX2 are taken everywhere, unless the environment wants others. libtorch reads the
/// variable when its first kernel runs, which is after this library was loaded or too late (see
/// bits_promise).
const bool torch_takes_avx2 = has_avx2() && setenv("ATEN_CPU_CAPABILITY", "avx2", /*overwrite=*/0) == 0;

std::vector<const Loops*> available() {
  std::vector<const Loops*> tables = {&scalar::table};
#if defined(MODEWISE_X86_LOOPS)
  if (has_avx2()) tables.push_back(&avx2::table);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    // The last one is the default. Intel's CPUs multiply pairs at half the speed of float32, AMD's at twice
    // it.
    const bool pairs = __builtin_cpu_supports("avx512bf16");
    if (pairs && !__builtin_cpu_is("amd")) tables.push_back(&avx512bf16::table);
    tables.push_back(&avx512::table);
    if (pairs && __builtin_cpu_is("amd")) tables.push_back(&avx512bf16::table);
  }
#endif
  return tables;
}

const Loops* find(const std::string& isa) {
  std::string names;
  for (const Loops* table : available()) {
    if (isa == table->name) return table;
    names += (names.empty() ? "" : ", ") + std::string(table->name);
  }
  TORCH_CHECK_VALUE(false, "MODEWISE_ISA: this machine and build have ", names, ", got '", isa, "'");
}

std::atomic<const Loops*>& current() {
  static std::atomic<const Loops*> table = [] {
    const char* wanted = std::getenv("MODEWISE_ISA");
    return wanted != nullptr && *wanted != '\0' ? find(wanted) : available().back();
  }();
  return table;
}

}  // namespace

const Loops& loops() {
  return *current().load(std::memory_order_relaxed);
}

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Loops* table : available()) names.emplace_back(table->name);
  return names;
}

std::string active_isa() {
  return loops().name;
}

void use_isa(const std::string& isa) {
  current() = find(isa);
}

std::string bits_promise() {
  const std::string isa = active_isa(), torch_kernels = at::get_cpu_capability();
  if (isa == "scalar")
    return "float32 trainings have the same bits under these loops alone: they have no fused multiply-adds";
  if (torch_kernels != "AVX2")
    return "float32 trainings may have other bits on another CPU: libtorch runs its kernels for " +
           torch_kernels + ", not for AVX2 (ATEN_CPU_CAPABILITY chooses, before the first one runs)";
  return "float32 trainings have the same bits on every x86-64 CPU with AVX2 and FMA";
}

}  // namespace modewise::ops
