// Times the matrix products of a HOT layer, its feed-forward network, and a few others, against torch and
// against the peak of the CPU (core/processor_rates.h). Medians of alternating rounds; prints a Markdown
// table.

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
#include "modewise/core/allocator.h"
#include "modewise/core/build_info.h"
#include "modewise/core/processor_rates.h"
#include "modewise/ops/dense/feed_forward.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/kernel_info.h"

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

/// One product by modewise and by torch.
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

/// SwiGLU network of a layer; `step`: with its gradients.
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
  return {product(kRows, 128, 128, type),
          product(kRows, 128, 1024, type),
          product(kRows, 512, 128, type),
          product(1, 4096, 4096, type),
          product(17, 63, 65, type),
          product(21, 512, 512, type),
          network(kRows, 128, 512, type, false),
          network(kRows, 128, 512, type, true)};
}

/// `peak`: GF/s of float32 multiply-adds on one core.
void print_row(const Case& one, const char* type, double peak, int threads, int rounds, bool processor_time) {
  const int64_t work = 2 * one.multiply_adds, repeats = std::max<int64_t>(50000000 / work, 1);
  const auto rate = [&](const std::function<void()>& action) {
    const double time = seconds_of(processor_time, [&] {
      for (int64_t i = 0; i < repeats; ++i) action();
    });
    return static_cast<double>(work * repeats) / time / 1e9;
  };
  std::vector<double> own, torch;
  for (int round = 0; round <= rounds; ++round) {
    const double ours = rate(one.own), theirs = rate(one.torch);
    if (round == 0) continue;  // warm-up
    own.push_back(ours);
    torch.push_back(theirs);
  }
  std::printf("| %lld | %s | %s | %.0f | %.0f | %.0f %% |\n", static_cast<long long>(one.rows),
              one.name.c_str(), type, median(own), median(torch), 100 * median(own) / peak / threads);
}

int run(int threads, int rounds, bool processor_time) {
  const at::NoGradGuard no_grad;
  at::set_num_threads(threads);
  const ProcessorRates rates = processor_rates();
  std::printf("%s, loops for %s, %d threads, medians of %d rounds; peak of one core: %.0f GF/s in float32",
              machine_info().processor.c_str(), ops::active_isa().c_str(), threads, rounds,
              rates.float32 / 1e9);
  if (rates.bf16_pairs > 0) std::printf(", %.0f in bf16 pairs", rates.bf16_pairs / 1e9);
  if (rates.bf16_tiles > 0) std::printf(", %.0f in bf16 tiles", rates.bf16_tiles / 1e9);
  std::printf(
      "\n\n| rows | product | type | modewise GF/s | torch GF/s | of the float32 peak per thread "
      "|\n|---|---|---|---|---|---|\n");
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const Case& one : cases(type))
      print_row(one, type == at::kFloat ? "float32" : "bf16", rates.float32 / 1e9, threads, rounds,
                processor_time);
  return 0;
}

}  // namespace
}  // namespace modewise

int main(int argc, char** argv) {
  CLI::App app("Times the matrix products of a HOT layer against torch and the peak of the CPU");
  int threads = 1, rounds = 15;
  app.add_option("--threads", threads)->capture_default_str();
  app.add_option("--rounds", rounds)->capture_default_str();
  bool processor_time = false;
  app.add_flag("--processor-time", processor_time, "measure the CPU time of one thread, for a busy machine");
  CLI11_PARSE(app, argc, argv);
  modewise::keep_freed_memory();
  return modewise::run(threads, rounds, processor_time);
}
