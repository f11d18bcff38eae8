// KV cache size of one layer and time per token during generation, for full attention, a window and summary
// attention. Prints one JSON line per type: cache bytes, their fraction of full attention, microseconds per
// token.
//
//   generation_cache --fold 64 64 32 --threads 4

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "modewise/core/allocator.h"
#include "modewise/ops/attention/attention_cache.h"

namespace modewise {
namespace {

struct Options {
  std::vector<int64_t> fold = {64, 64, 32}, summary_tokens = {1, 4};
  int64_t heads = 8, width = 64, steps = 200;
  int threads = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the KV caches of generation");
  app.add_option("--fold", options.fold, "fold n_1 … n_m, whose size is the length of the sequence");
  app.add_option("--summary-tokens", options.summary_tokens,
                 "summary tokens per block, one measurement each");
  app.add_option("--heads", options.heads);
  app.add_option("--width", options.width, "head width");
  app.add_option("--steps", options.steps, "timed steps at the end of the sequence");
  app.add_option("--threads", options.threads);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

void run(const Options& options) {
  at::set_num_threads(options.threads);
  const at::NoGradGuard no_grad;
  int64_t tokens = 1;
  for (const int64_t size : options.fold) tokens *= size;
  const auto rows = at::randn({1, tokens, options.heads, options.width});
  int64_t full_bytes = 0;
  const auto measure = [&](const ops::TensorAttentionOptions& type, int64_t summary_tokens) {
    at::Tensor latents;
    if (type.type == "summary")
      latents = at::randn({std::ssize(options.fold) - 1, options.heads, summary_tokens, options.width});
    ops::AttentionCache cache(type, latents);
    const int64_t begun = tokens - options.steps;
    const auto first = rows.narrow(1, 0, begun);
    cache.step(first, first, first);
    std::vector<double> times;
    for (int64_t t = begun; t < tokens; ++t) {
      const auto row = rows.narrow(1, t, 1);
      const auto start = std::chrono::steady_clock::now();
      cache.step(row, row, row);
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + std::ssize(times) / 2, times.end());
    // Full attention's buffer grows by doubling: only its rows are counted.
    const int64_t bytes =
        type.type == "full" ? 2 * tokens * options.heads * options.width * 4 : cache.bytes();
    if (type.type == "full") full_bytes = bytes;
    std::cout << nlohmann::ordered_json(
                     {{"form", type.type},
                      {"slots", summary_tokens},
                      {"tokens", tokens},
                      {"bytes", bytes},
                      {"of_full", static_cast<double>(bytes) / static_cast<double>(full_bytes)},
                      {"step_us", 1e6 * times[times.size() / 2]}})
                     .dump()
              << std::endl;
  };
  measure({.type = "full"}, 0);
  measure({.type = "window", .window = 2 * options.fold.back()}, 0);
  for (const int64_t summary_tokens : options.summary_tokens)
    measure({.type = "summary", .fold = options.fold}, summary_tokens);
}

}  // namespace
}  // namespace modewise

int main(int argc, char** argv) {
  modewise::keep_freed_memory();
  modewise::run(modewise::parse(argc, argv));
}
