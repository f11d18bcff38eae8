// Times the products of a HOT block, and a few beside them, against at::linear and against the peak of the
// CPU: a loop of multiply-adds on registers. Medians of rounds that take turns; prints a Markdown table.

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "modewise/core/heap.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/ops/linear.h"

namespace modewise {
namespace {

double seconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Multiply-adds on 24 (or 12) accumulators that stay in registers; returns their number.
template <int Bytes, int Accumulators>
[[gnu::always_inline]] inline int64_t multiply_adds(int64_t steps) {
  typedef float Vector __attribute__((vector_size(Bytes)));
  Vector sum[Accumulators] = {}, x = Vector{} + 1.0001F, y = Vector{} + 0.9999F;
  asm volatile("" : "+v"(x), "+v"(y));
  for (auto& s : sum) asm volatile("" : "+v"(s));  // else they were all one
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 24
    for (int j = 0; j < Accumulators; ++j) sum[j] = sum[j] * x + y;
  }
  for (auto& s : sum) asm volatile("" : "+v"(s));
  return steps * Accumulators * (Bytes / 4);
}

constexpr int64_t kSteps = 4000000;
#if defined(__x86_64__)
__attribute__((target("avx512f"), noinline)) int64_t peak_512() {
  return multiply_adds<64, 24>(kSteps);
}
__attribute__((target("avx2,fma"), noinline)) int64_t peak_256() {
  return multiply_adds<32, 12>(kSteps);
}
#endif
int64_t peak_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return peak_512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_256();
#endif
  return multiply_adds<16, 12>(kSteps);
}

struct Shape {
  int64_t rows, in, out;
};

int run(int threads, int rounds) {
  const at::NoGradGuard no_grad;
  at::set_num_threads(threads);
  std::printf("%s, %d threads, medians of %d rounds; the peak is of float32 and of one core\n\n",
              ops::active_isa().c_str(), threads, rounds);
  std::printf(
      "| rows | map | type | modewise GF/s | torch GF/s | peak GF/s | of the peak a thread "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const auto& [rows, in, out] : {Shape{16128, 128, 128}, Shape{16128, 128, 1024},
                                        Shape{16128, 512, 128}, Shape{1, 4096, 4096}, Shape{17, 63, 65}}) {
      const at::Tensor x = at::randn({rows, in}).to(type), weight = at::randn({out, in}).to(type);
      const int64_t work = 2 * rows * in * out, repeats = std::max<int64_t>(50000000 / work, 1);
      std::vector<double> own, torch, peak;
      for (int round = 0; round <= rounds; ++round) {  // the first one warms up
        int64_t peak_work = 0;
        const double peak_time = seconds_of([&] { peak_work = 2 * peak_loop(); });
        const auto rate = [&](const std::function<void()>& action) {
          const double time = seconds_of([&] {
            for (int64_t i = 0; i < repeats; ++i) action();
          });
          return static_cast<double>(work * repeats) / time / 1e9;
        };
        const double ours = rate([&] { ops::linear(x, weight); }),
                     theirs = rate([&] { at::linear(x, weight); });
        if (round == 0) continue;
        peak.push_back(static_cast<double>(peak_work) / peak_time / 1e9);
        own.push_back(ours);
        torch.push_back(theirs);
      }
      std::printf("| %lld | %lld → %lld | %s | %.0f | %.0f | %.0f | %.0f %% |\n",
                  static_cast<long long>(rows), static_cast<long long>(in), static_cast<long long>(out),
                  type == at::kFloat ? "float32" : "bf16", median(own), median(torch), median(peak),
                  100 * median(own) / median(peak) / threads);
    }
  }
  return 0;
}

}  // namespace
}  // namespace modewise

int main(int argc, char** argv) {
  CLI::App app("Products of a HOT block against torch and the peak of the CPU");
  int threads = 1, rounds = 15;
  app.add_option("--threads", threads)->capture_default_str();
  app.add_option("--rounds", rounds)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  modewise::keep_freed_memory();
  return modewise::run(threads, rounds);
}
