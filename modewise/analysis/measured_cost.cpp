#include "modewise/analysis/measured_cost.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "modewise/core/random.h"
#include "modewise/models/token_encoder.h"

namespace modewise::analysis {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Allocation listener: tracks libtorch's current and peak memory while its guard lives.
class AllocationMeter : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
    const int64_t now = alive_.fetch_add(size) + size;
    int64_t maximum = max_.load();
    while (now > maximum && !max_.compare_exchange_weak(maximum, now)) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t maximum() const { return max_.load(); }

 private:
  std::atomic<int64_t> alive_{0}, max_{0};
};

template <class Work>
int64_t max_bytes(const Work& work) {
  const auto meter = std::make_shared<AllocationMeter>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
  work();
  return meter->maximum();
}

struct Timing {
  double median = 0;
  int64_t repeats = 0;
};

template <class Work>
Timing timed(const Work& work, int64_t repeats, double seconds) {
  const Clock::time_point begin = Clock::now();
  std::vector<double> times;
  while (std::ssize(times) < repeats && (times.empty() || seconds_since(begin) < seconds)) {
    const Clock::time_point start = Clock::now();
    work();
    times.push_back(seconds_since(start));
  }
  std::nth_element(times.begin(), times.begin() + std::ssize(times) / 2, times.end());
  return {times[times.size() / 2], std::ssize(times)};
}

/// Uniform in [−1, 1): [batch, N_1 … N_k, channels] in float32.
at::Tensor random_grid(int64_t batch, const std::vector<int64_t>& sizes, int64_t channels) {
  std::vector<int64_t> shape = {batch};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  shape.push_back(channels);
  const at::Tensor out = at::empty(shape, at::kFloat);
  const RandomStream stream{1, RandomSite::simulation, 0};
  auto* values = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i)
    values[i] = static_cast<float>(2 * stream.uniform(static_cast<uint64_t>(i)) - 1);
  return out;
}

template <class Forward>
MeasuredCost measure(torch::nn::Module& module, const Forward& forward, int64_t batch, int64_t repeats,
                     double seconds) {
  const auto infer = [&] {
    const at::NoGradGuard no_grad;
    forward();
  };
  const auto train = [&] {
    module.zero_grad();
    forward().square().mean().backward();
  };
  MeasuredCost out;
  const auto samples = static_cast<double>(batch);
  module.eval();
  out.inference_bytes = static_cast<double>(max_bytes(infer)) / samples;  // also the warm-up run
  const Timing inference = timed(infer, repeats, seconds);
  module.train();
  out.training_bytes = static_cast<double>(max_bytes(train)) / samples;
  const Timing training = timed(train, repeats, seconds);
  out.inference_seconds = inference.median / samples;
  out.training_seconds = training.median / samples;
  out.repeats = std::min(inference.repeats, training.repeats);
  return out;
}

}  // namespace

MeasuredCost measure_encoder(const models::EncoderConfig& config, const std::string& mechanism,
                             const models::TokenShape& tokens, int64_t batch, int64_t repeats,
                             double seconds) {
  nn::Initializer init(1);
  models::TokenEncoder encoder(config, mechanism, tokens, 0, init);
  const nn::PatchTokens input{random_grid(batch, tokens.sizes, config.width), {}};
  return measure(
      encoder, [&] { return encoder.forward(input); }, batch, repeats, seconds);
}

MeasuredCost measure_classifier(const models::VisionModelConfig& config, const models::VisionShape& shape,
                                int64_t batch, int64_t repeats, double seconds) {
  const auto model = models::make_vision_classifier(config, shape, 1);
  const models::ClassifierInput input{random_grid(batch, shape.size, shape.channels), {}};
  return measure(
      *model, [&] { return model->forward(input); }, batch, repeats, seconds);
}

double growth_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const size_t n = std::min(x.size(), y.size());
  if (n < 2) return std::numeric_limits<double>::quiet_NaN();
  double mean_x = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < n; ++i) mean_x += std::log(x[i]) / static_cast<double>(n);
  for (size_t i = 0; i < n; ++i) {
    const double dx = std::log(x[i]) - mean_x;
    xx += dx * dx;
    xy += dx * std::log(y[i]);  // the sum of dx is 0
  }
  return xy / xx;
}

}  // namespace modewise::analysis
