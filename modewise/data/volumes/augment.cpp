#include "modewise/data/volumes/augment.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/rot90.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::data {
namespace {

constexpr uint64_t kDrawsASample = 64;
constexpr uint64_t kFirstNoise = uint64_t{1} << 40;  // behind the draws of any batch

using Matrix = std::array<std::array<double, 3>, 3>;

/// The draws of one sample, in the order in which they are asked for.
class Draws {
 public:
  Draws(const RandomStream& stream, int64_t sample)
      : stream_(stream), next_(static_cast<uint64_t>(sample) * kDrawsASample) {}
  double uniform() { return stream_.uniform(next_++); }
  double within(double most) { return most * (2 * uniform() - 1); }
  int64_t below(int64_t count) { return static_cast<int64_t>(uniform() * static_cast<double>(count)); }

 private:
  RandomStream stream_;
  uint64_t next_;
};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 3; ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

Matrix rotation_about(size_t axis, double angle) {
  Matrix out{};
  const size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
  out[axis][axis] = 1;
  out[a][a] = out[b][b] = std::cos(angle);
  out[a][b] = -std::sin(angle);
  out[b][a] = std::sin(angle);
  return out;
}

/// One sample: [N_1 … N_k, C] and [N_1 … N_k] or undefined.
struct Sample {
  at::Tensor values, valid;

  void apply(const std::function<at::Tensor(const at::Tensor&)>& move) {
    values = move(values);
    if (valid.defined()) valid = move(valid);
  }
};

/// `x` moved by `shift` along `axis`, zeros behind it.
at::Tensor shifted(const at::Tensor& x, int64_t axis, int64_t shift) {
  const int64_t size = x.size(axis), kept = size - std::abs(shift);
  at::Tensor out = at::zeros_like(x);
  if (kept > 0)
    out.narrow(axis, std::max<int64_t>(shift, 0), kept)
        .copy_(x.narrow(axis, std::max<int64_t>(-shift, 0), kept));
  return out;
}

void mirror_and_turn(Sample& sample, const AugmentConfig& config, Draws& draws) {
  for (const int64_t axis : config.flips)
    if (draws.uniform() < 0.5) sample.apply([&](const at::Tensor& x) { return at::flip(x, {axis}); });
  for (const int64_t axis : config.quarter_turns) {
    const int64_t a = (axis + 1) % 3, b = (axis + 2) % 3;
    int64_t turns = draws.below(4);
    if (sample.values.size(a) != sample.values.size(b)) turns &= 2;
    if (turns != 0)
      sample.apply([&](const at::Tensor& x) {
        return at::rot90(x, turns, {std::min(a, b), std::max(a, b)});
      });
  }
}

/// Where output voxel o takes its value: M (o − centre) + centre + offset, in source voxels.
struct Map {
  Matrix matrix;
  std::array<double, 3> offset;
};

Map draw_map(const AugmentConfig& config, Draws& draws) {
  Map map{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {}};
  for (size_t axis = 0; axis < 3; ++axis)
    map.matrix =
        product(map.matrix, rotation_about(axis, draws.within(config.rotate) * std::numbers::pi / 180));
  const double scale = 1 + draws.within(config.scale);
  for (size_t axis = 0; axis < 3; ++axis) {
    const double along = scale * (1 + draws.within(config.stretch));
    for (size_t row = 0; row < 3; ++row) map.matrix[row][axis] /= along;
    map.offset[axis] = draws.within(static_cast<double>(config.shift));
  }
  return map;
}

/// Linear interpolation of the voxels around one place of a [X, Y, Z, C] volume.
class Interpolation {
 public:
  Interpolation(const Sample& from, Sample& to)
      : sizes_{from.values.size(0), from.values.size(1), from.values.size(2)},
        channels_(from.values.size(3)),
        values_(from.values.const_data_ptr<float>()),
        valid_(from.valid.defined() ? from.valid.const_data_ptr<bool>() : nullptr),
        out_(to.values.mutable_data_ptr<float>()),
        out_valid_(to.valid.defined() ? to.valid.mutable_data_ptr<bool>() : nullptr) {}

  void at(const std::array<double, 3>& place, int64_t to) {
    std::array<int64_t, 3> low{};
    std::array<float, 3> part{};
    for (size_t i = 0; i < 3; ++i) {
      const double floor = std::floor(place[i]);
      low[i] = static_cast<int64_t>(floor);
      part[i] = static_cast<float>(place[i] - floor);
    }
    float weights = 0;
    float* out = out_ + to * channels_;
    std::fill(out, out + channels_, 0.0F);
    for (int64_t corner = 0; corner < 8; ++corner) {
      float weight = 1;
      int64_t from = 0;
      bool inside = true;
      for (size_t i = 0; i < 3; ++i) {
        const int64_t high = corner >> i & 1, at = low[i] + high;
        inside = inside && at >= 0 && at < sizes_[i];
        weight *= high != 0 ? part[i] : 1 - part[i];
        from = from * sizes_[i] + at;
      }
      if (!inside || weight == 0 || (valid_ != nullptr && !valid_[from])) continue;
      weights += weight;
      for (int64_t c = 0; c < channels_; ++c) out[c] += weight * values_[from * channels_ + c];
    }
    if (out_valid_ == nullptr) return;
    out_valid_[to] = weights >= 0.5F;
    for (int64_t c = 0; c < channels_; ++c) out[c] = weights >= 0.5F ? out[c] / weights : 0;
  }

 private:
  std::array<int64_t, 3> sizes_;
  int64_t channels_;
  const float* values_;
  const bool* valid_;
  float* out_;
  bool* out_valid_;
};

void deform(Sample& sample, const AugmentConfig& config, Draws& draws) {
  const Map map = draw_map(config, draws);
  Sample from{sample.values.contiguous(), sample.valid.defined() ? sample.valid.contiguous() : at::Tensor()};
  Sample to{at::empty_like(from.values), from.valid.defined() ? at::empty_like(from.valid) : at::Tensor()};
  Interpolation interpolate(from, to);
  const int64_t x = from.values.size(0), y = from.values.size(1), z = from.values.size(2);
  const std::array<double, 3> centre = {static_cast<double>(x - 1) / 2, static_cast<double>(y - 1) / 2,
                                        static_cast<double>(z - 1) / 2};
  for (int64_t i = 0; i < x; ++i)
    for (int64_t j = 0; j < y; ++j)
      for (int64_t k = 0; k < z; ++k) {
        const std::array<double, 3> o = {static_cast<double>(i) - centre[0],
                                         static_cast<double>(j) - centre[1],
                                         static_cast<double>(k) - centre[2]};
        std::array<double, 3> place{};
        for (size_t row = 0; row < 3; ++row)
          place[row] = map.matrix[row][0] * o[0] + map.matrix[row][1] * o[1] + map.matrix[row][2] * o[2] +
                       centre[row] + map.offset[row];
        if (config.interpolation == "nearest")
          for (double& along : place) along = std::round(along);
        interpolate.at(place, (i * y + j) * z + k);
      }
  sample = std::move(to);
}

void shift_whole(Sample& sample, const AugmentConfig& config, Draws& draws) {
  for (int64_t axis = 0; axis + 1 < sample.values.dim(); ++axis) {
    const int64_t shift = draws.below(2 * config.shift + 1) - config.shift;
    if (shift != 0) sample.apply([&](const at::Tensor& x) { return shifted(x, axis, shift); });
  }
}

void change_values(Sample& sample, const AugmentConfig& config, Draws& draws) {
  if (config.shape_transform) sample.values = sample.values * draws.uniform();
  if (config.contrast > 0) sample.values = sample.values * (1 + draws.within(config.contrast));
  if (config.brightness > 0) sample.values = sample.values + draws.within(config.brightness);
}

void add_noise(Sample& sample, double deviation, const RandomStream& stream, int64_t position) {
  sample.values = sample.values.contiguous();
  float* values = sample.values.mutable_data_ptr<float>();
  const int64_t count = sample.values.numel();
  const uint64_t first = kFirstNoise + static_cast<uint64_t>(position * count);
  for (int64_t i = 0; i < count; ++i)
    values[i] += static_cast<float>(deviation * stream.normal(first + static_cast<uint64_t>(i)));
}

void erase_box(Sample& sample, Draws& draws) {
  at::Tensor box = sample.values;
  for (int64_t axis = 0; axis + 1 < sample.values.dim(); ++axis) {
    const int64_t size = box.size(axis);
    const auto wanted = static_cast<int64_t>(static_cast<double>(size) * (0.2 + 0.3 * draws.uniform()));
    const int64_t length = std::max<int64_t>(1, wanted);
    box = box.narrow(axis, draws.below(size - length + 1), length);
  }
  box.zero_();
}

}  // namespace

void augment(LabelledBatch& batch, const AugmentConfig& config, uint64_t seed, uint64_t number) {
  const RandomStream stream{seed, RandomSite::augmentation, number};
  const bool affine = config.rotate > 0 || config.scale > 0 || config.stretch > 0;
  require((!affine && config.quarter_turns.empty()) || batch.values.dim() == 5, ErrorKind::config,
          "augment: rotate, scale, stretch and quarter_turns are for volumes of 3 axes, these have {}",
          batch.values.dim() - 2);
  for (const int64_t axis : config.flips)
    require(axis < batch.values.dim() - 2, ErrorKind::config,
            "augment.flips holds {}, but the volumes have axes 0 to {}", axis, batch.values.dim() - 3);
  for (int64_t i = 0; i < batch.values.size(0); ++i) {
    Draws draws(stream, i);
    Sample sample{batch.values.select(0, i), batch.valid.defined() ? batch.valid.select(0, i) : at::Tensor()};
    mirror_and_turn(sample, config, draws);
    if (affine)
      deform(sample, config, draws);
    else if (config.shift > 0)
      shift_whole(sample, config, draws);
    change_values(sample, config, draws);
    if (config.noise > 0) add_noise(sample, config.noise, stream, i);
    if (config.erase > 0 && draws.uniform() < config.erase) erase_box(sample, draws);
    if (sample.valid.defined()) {
      sample.values = sample.values.masked_fill(sample.valid.logical_not().unsqueeze(-1), 0);
      batch.valid.select(0, i).copy_(sample.valid);
    }
    batch.values.select(0, i).copy_(sample.values);
  }
}

void transform_for_evaluation(LabelledBatch& batch, const AugmentConfig& config) {
  if (config.shape_transform) batch.values.mul_(0.5);
}

LabelledBatch mirrored(const LabelledBatch& batch, const std::vector<int64_t>& axes, uint64_t mirror) {
  std::vector<int64_t> flipped;
  for (size_t i = 0; i < axes.size(); ++i)
    if ((mirror >> i & 1) != 0) flipped.push_back(axes[i] + 1);
  if (flipped.empty()) return batch;
  LabelledBatch out{at::flip(batch.values, flipped), {}, batch.labels};
  if (batch.valid.defined()) out.valid = at::flip(batch.valid, flipped);
  return out;
}

}  // namespace modewise::data
