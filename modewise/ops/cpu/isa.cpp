#include <ATen/Version.h>
#include <c10/util/Exception.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "modewise/core/amx.h"
#include "modewise/core/error.h"
#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/cpu/scratch.h"
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
extern const GemmLoops<Half16> gemm_amx, gemm_amx_vectors;
}  // namespace avx512bf16
#endif

namespace {

bool has_avx2() {
#if defined(MODEWISE_X86_LOOPS)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// libtorch also chooses kernels by CPU: softmax, sigmoid and others sum and round differently for AVX-512.
/// Its AVX2 kernels are selected everywhere, unless the environment variable is set. libtorch reads it when
/// its first kernel runs, which is after this library was loaded or too late (see bits_promise).
const bool torch_takes_avx2 = has_avx2() && setenv("ATEN_CPU_CAPABILITY", "avx2", /*overwrite=*/0) == 0;

#if defined(MODEWISE_X86_LOOPS)
constexpr int64_t kTrialRows = 37, kTrialColumns = 50;
using Trial = std::array<float, kTrialRows * kTrialColumns>;

/// A product whose sizes are not multiples of tile, step or piece; few rows use another code path than many.
Trial try_products(const GemmLoops<Half16>& products, int64_t rows) {
  constexpr int64_t kDepth = 333;
  std::vector<Half16> a(kTrialRows * kDepth), b(kTrialColumns * kDepth);
  uint32_t state = 1;
  for (auto* values : {&a, &b})
    for (Half16& value : *values) {
      state = state * 1664525U + 1013904223U;
      value.bits = static_cast<uint16_t>(0x3f00U | (state >> 31) << 15 | (state >> 24 & 0xffU));
    }
  Trial out = {};
  const GemmPlan plan = {.rows = rows,
                         .columns = kTrialColumns,
                         .depth = kDepth,
                         .a = a.data(),
                         .a_row = kDepth,
                         .a_col = 1,
                         .b = b.data(),
                         .b_row = 1,
                         .b_col = kDepth,
                         .bias = nullptr,
                         .out = out.data(),
                         .out_row = kTrialColumns,
                         .wide = true};
  const int64_t panels = (kTrialColumns + products.panel - 1) / products.panel;
  products.multiply(plan, 0, rows, 0, panels, nullptr, thread_scratch(products.scratch(plan, rows, panels)));
  return out;
}

/// Whether the AMX unit computes exactly what its documentation specifies.
bool amx_is_right() {
  for (const int64_t rows : {int64_t{4}, kTrialRows})
    if (try_products(avx512bf16::gemm_amx, rows) != try_products(avx512bf16::gemm_amx_vectors, rows))
      return false;
  return true;
}

Loops with_products(const char* name, const GemmLoops<Half16>& products) {
  Loops table = avx512bf16::table;
  table.name = name;
  table.bf16.gemm = &products;
  return table;
}
#endif

std::vector<const Loops*> available() {
  std::vector<const Loops*> tables = {&scalar::table};
#if defined(MODEWISE_X86_LOOPS)
  static const Loops amx = with_products("amx", avx512bf16::gemm_amx);
  static const Loops amx_vectors = with_products("amx_vectors", avx512bf16::gemm_amx_vectors);
  static const bool has_amx = __builtin_cpu_supports("avx512bf16") && amx_granted() && amx_is_right();
  if (has_avx2()) tables.push_back(&avx2::table);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    // The last one is the default. Intel CPUs run bfloat16 dot products at half the speed of float32, AMD
    // CPUs at twice; AMX tiles are several times faster than either.
    const bool pairs = __builtin_cpu_supports("avx512bf16");
    if (pairs) tables.push_back(&amx_vectors);
    if (pairs && !__builtin_cpu_is("amd")) tables.push_back(&avx512bf16::table);
    tables.push_back(&avx512::table);
    if (pairs && __builtin_cpu_is("amd")) tables.push_back(&avx512bf16::table);
    if (has_amx) tables.push_back(&amx);
  }
#endif
  return tables;
}

/// nullptr for a name that this machine and build lack.
const Loops* find(const std::string& isa) {
  for (const Loops* table : available())
    if (isa == table->name) return table;
  return nullptr;
}

std::string isa_refusal(const std::string& isa) {
  return fmt::format("MODEWISE_ISA must be one of {} on this machine and build, got '{}'",
                     fmt::join(available_isas(), ", "), isa);
}

/// The instruction set of MODEWISE_ISA; a usage error if it is not available.
const Loops* asked_loops() {
  const char* wanted = std::getenv("MODEWISE_ISA");
  if (wanted == nullptr || *wanted == '\0') return available().back();
  const Loops* found = find(wanted);
  if (found == nullptr) fail(ErrorKind::usage, "{}", isa_refusal(wanted));
  return found;
}

std::atomic<const Loops*>& current() {
  static std::atomic<const Loops*> table = asked_loops();
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
  const Loops* found = find(isa);
  TORCH_CHECK_VALUE(found != nullptr, isa_refusal(isa));
  current() = found;
}

std::string bits_of(const std::string& isa, bool bf16) {
  if (isa == "scalar") return "plain";
  if (bf16 && isa == "avx512bf16") return "pairs";
  if (bf16 && isa.starts_with("amx")) return "tiles";
  return "fused";
}

std::string bits_promise() {
  const std::string isa = active_isa(), torch_kernels = at::get_cpu_capability();
  if (bits_of(isa, false) == "plain")
    return "float32 training is bitwise reproducible only with these loops: they have no fused multiply-adds";
  if (torch_kernels != "AVX2")
    return "float32 training may differ on another CPU: libtorch runs its kernels for " + torch_kernels +
           ", not for AVX2 (set ATEN_CPU_CAPABILITY before the first one runs)";
  return "float32 training is bitwise reproducible on every x86-64 CPU with AVX2 and FMA";
}

}  // namespace modewise::ops
