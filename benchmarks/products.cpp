// Times the products of a HOT block, its feed-forward network, and a few beside them, against torch and
// against the peak of the CPU: a loop of multiply-adds on registers. Medians of rounds that take turns;
// prints a Markdown table.

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/clock.h"
#include "modewise/core/heap.h"
#include "modewise/ops/feed_forward.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/ops/linear.h"

namespace modewise {
namespace {

double seconds_of(bool processor_time, const std::function<void()>& action) {
  const double start = seconds_now(processor_time);
  action();
  return seconds_now(processor_time) - start;
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

/// The same work by modewise and by torch.
struct Case {
  std::string name;
  int64_t rows, multiply_adds;
  std::function<void()> own, torch;
};

Case product(int64_t rows, int64_t in, int64_t out, at::ScalarType type) {
  const at::Tensor x = at::randn({rows, in}).to(type), weight = at::randn({out, in}).to(type);
  return {std::to_string(in) + " → " + std::to_string(out), rows, rows * in * out,
          [=] { ops::linear(x, weight); }, [=] { at::linear(x, weight); }};
}

/// The SwiGLU network of a block; `step`: with its gradients.
Case network(int64_t rows, int64_t width, int64_t hidden, at::ScalarType type, bool step) {
  const auto weight = [&](int64_t out, int64_t in) {
    return (at::randn({out, in}) / std::sqrt(static_cast<double>(in))).to(type).requires_grad_(step);
  };
  const at::Tensor x = at::randn({rows, width}).to(type).requires_grad_(step);
  const ops::FeedForwardWeights weights = {.first = weight(hidden, width),
                                           .second = weight(width, hidden),
                                           .gate = weight(hidden, width),
                                           .first_bias = {},
                                           .second_bias = {}};
  const auto timed = [step, above = at::randn({rows, width}).to(type)](const auto& forward) {
    const at::AutoGradMode mode(step);
    const at::Tensor out = forward();
    if (step) out.backward(above);
  };
  return {"SwiGLU " + std::to_string(width) + ", " + std::to_string(hidden) + (step ? ", step" : ""), rows,
          rows * width * hidden * (step ? 9 : 3),
          [=] { timed([&] { return ops::feed_forward(x, weights); }); },
          [=] {
            timed([&] {
              return at::linear(at::silu(at::linear(x, weights.gate)) * at::linear(x, weights.first),
                                weights.second);
            });
          }};
}

std::vector<Case> cases(at::ScalarType type) {
  constexpr int64_t kRows = 16128;  // tokens of 32 samples of 21 x 24
  return {product(kRows, 128, 128, type),      product(kRows, 128, 1024, type),
          product(kRows, 512, 128, type),      product(1, 4096, 4096, type),
          product(17, 63, 65, type),           network(kRows, 128, 512, type, false),
          network(kRows, 128, 512, type, true)};
}

void print_row(const Case& one, const char* type, int threads, int rounds, bool processor_time) {
  const int64_t work = 2 * one.multiply_adds, repeats = std::max<int64_t>(50000000 / work, 1);
  const auto rate = [&](const std::function<void()>& action) {
    const double time = seconds_of(processor_time, [&] {
      for (int64_t i = 0; i < repeats; ++i) action();
    });
    return static_cast<double>(work * repeats) / time / 1e9;
  };
  std::vector<double> own, torch, peak;
  for (int round = 0; round <= rounds; ++round) {
    int64_t peak_work = 0;
    const double peak_time = seconds_of(processor_time, [&] { peak_work = 2 * peak_loop(); });
    const double ours = rate(one.own), theirs = rate(one.torch);
    if (round == 0) continue;  // warms up
    peak.push_back(static_cast<double>(peak_work) / peak_time / 1e9);
    own.push_back(ours);
    torch.push_back(theirs);
  }
  std::printf("| %lld | %s | %s | %.0f | %.0f | %.0f | %.0f %% |\n", static_cast<long long>(one.rows),
              one.name.c_str(), type, median(own), median(torch), median(peak),
              100 * median(own) / median(peak) / threads);
}

int run(int threads, int rounds, bool processor_time) {
  const at::NoGradGuard no_grad;
  at::set_num_threads(threads);
  std::printf("%s, %d threads, medians of %d rounds; the peak is of float32 and of one core\n\n",
              ops::active_isa().c_str(), threads, rounds);
  std::printf(
      "| rows | map | type | modewise GF/s | torch GF/s | peak GF/s | of the peak a thread "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const Case& one : cases(type))
      print_row(one, type == at::kFloat ? "float32" : "bf16", threads, rounds, processor_time);
  return 0;
}

}  // namespace
}  // namespace modewise

int main(int argc, char** argv) {
  CLI::App app("Products of a HOT block against torch and the peak of the CPU");
  int threads = 1, rounds = 15;
  app.add_option("--threads", threads)->capture_default_str();
  app.add_option("--rounds", rounds)->capture_default_str();
  bool processor_time = false;
  app.add_flag("--processor-time", processor_time, "of one thread, for a machine that does other work");
  CLI11_PARSE(app, argc, argv);
  modewise::keep_freed_memory();
  return modewise::run(threads, rounds, processor_time);
}
