#include "modewise/data/volume_classification/augment.h"

#include <ATen/Parallel.h>
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
constexpr uint64_t kFirstNoise = uint64_t{1} << 40;  // after the draws of any batch

using Matrix = std::array<std::array<double, 3>, 3>;
using Point = std::array<double, 3>;  // in voxels

/// Random numbers of one sample, in call order.
class Draws {
 public:
  Draws(const RandomStream& stream, int64_t sample)
      : stream_(stream), next_(static_cast<uint64_t>(sample) * kDrawsASample) {}
  double uniform() { return stream_.uniform(next_++); }
  double within(double maximum) { return maximum * (2 * uniform() - 1); }
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

/// `x` shifted by `shift` along `axis`, filled with zeros.
at::Tensor shifted(const at::Tensor& x, int64_t axis, int64_t shift) {
  const int64_t size = x.size(axis), kept = size - std::abs(shift);
  at::Tensor out = at::zeros_like(x);
  if (kept > 0)
    out.narrow(axis, std::max<int64_t>(shift, 0), kept)
        .copy_(x.narrow(axis, std::max<int64_t>(-shift, 0), kept));
  return out;
}

void flip_and_turn(Sample& sample, const AugmentConfig& config, Draws& draws) {
  for (const int64_t axis : config.flips)
    if (draws.uniform() < 0.5) sample.apply([&](const at::Tensor& x) { return at::flip(x, {axis}); });
  for (const int64_t axis : config.quarter_rotations) {
    const int64_t a = (axis + 1) % 3, b = (axis + 2) % 3;
    int64_t rotations = draws.below(4);
    if (sample.values.size(a) != sample.values.size(b)) rotations &= 2;
    if (rotations != 0)
      sample.apply([&](const at::Tensor& x) {
        return at::rot90(x, rotations, {std::min(a, b), std::max(a, b)});
      });
  }
}

/// Affine map from output voxel o to source coordinates: M (o − centre) + centre + offset.
struct Map {
  Matrix matrix;
  Point offset;
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

/// Trilinear or nearest interpolation of a [X, Y, Z, C] volume.
class Interpolation {
 public:
  Interpolation(const Sample& from, Sample& to)
      : sizes_{from.values.size(0), from.values.size(1), from.values.size(2)},
        channels_(from.values.size(3)),
        values_(from.values.const_data_ptr<float>()),
        valid_(from.valid.defined() ? from.valid.const_data_ptr<bool>() : nullptr),
        out_(to.values.mutable_data_ptr<float>()),
        out_valid_(to.valid.defined() ? to.valid.mutable_data_ptr<bool>() : nullptr) {}

  void nearest(const Point& place, int64_t to) {
    int64_t from = 0;
    bool seen = true;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t at = rounded(place[i]);
      seen = seen && at >= 0 && at < sizes_[i];
      from = from * sizes_[i] + at;
    }
    seen = seen && (valid_ == nullptr || valid_[from]);
    for (int64_t c = 0; c < channels_; ++c)
      out_[to * channels_ + c] = seen ? values_[from * channels_ + c] : 0;
    if (out_valid_ != nullptr) out_valid_[to] = seen;
  }

  void linear(const Point& place, int64_t to) {
    int64_t at[3];
    float part[3][2];  // weights of the voxels below and above along each axis; 0 beyond the edge
    for (size_t i = 0; i < 3; ++i) {
      at[i] = below(place[i]);
      const auto high = static_cast<float>(place[i] - static_cast<double>(at[i]));
      part[i][0] = at[i] >= 0 && at[i] < sizes_[i] ? 1 - high : 0;
      part[i][1] = at[i] + 1 >= 0 && at[i] + 1 < sizes_[i] ? high : 0;
    }
    std::array<float, 8> weight;
    std::array<int64_t, 8> from;
    size_t count = 0;
    float weights = 0;
    const int64_t first = (at[0] * sizes_[1] + at[1]) * sizes_[2] + at[2];
    for (int64_t z = 0; z < 2; ++z)
      for (int64_t y = 0; y < 2; ++y)
        for (int64_t x = 0; x < 2; ++x) {
          weight[count] = part[0][x] * part[1][y] * part[2][z];
          from[count] = first + (x * sizes_[1] + y) * sizes_[2] + z;
          if (weight[count] == 0 || (valid_ != nullptr && !valid_[from[count]])) continue;
          weights += weight[count++];
        }
    for (int64_t c = 0; c < channels_; ++c) {
      float sum = 0;
      for (size_t i = 0; i < count; ++i) sum += weight[i] * values_[from[i] * channels_ + c];
      if (valid_ != nullptr) sum = weights >= 0.5F ? sum / weights : 0;
      out_[to * channels_ + c] = sum;
    }
    if (out_valid_ != nullptr) out_valid_[to] = weights >= 0.5F;
  }

 private:
  // std::floor and std::round are function calls on the oldest supported CPUs.
  static int64_t below(double x) {
    const auto whole = static_cast<int64_t>(x);
    return whole - static_cast<int64_t>(static_cast<double>(whole) > x);
  }
  static int64_t rounded(double x) {
    const auto whole = static_cast<int64_t>(x);
    const double rest = x - static_cast<double>(whole);
    return whole + static_cast<int64_t>(rest >= 0.5) - static_cast<int64_t>(rest <= -0.5);
  }

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
  Interpolation interpolation(from, to);
  const bool nearest = config.interpolation == "nearest";
  const int64_t x = from.values.size(0), y = from.values.size(1), z = from.values.size(2);
  const Point centre = {static_cast<double>(x - 1) / 2, static_cast<double>(y - 1) / 2,
                        static_cast<double>(z - 1) / 2};
  const auto along = [&](size_t axis, int64_t at, size_t row) {
    return map.matrix[row][axis] * (static_cast<double>(at) - centre[axis]);
  };
  int64_t voxel = 0;
  for (int64_t i = 0; i < x; ++i)
    for (int64_t j = 0; j < y; ++j) {
      Point line{};
      for (size_t row = 0; row < 3; ++row) line[row] = along(0, i, row) + along(1, j, row);
      for (int64_t k = 0; k < z; ++k, ++voxel) {
        Point place{};
        for (size_t row = 0; row < 3; ++row)
          place[row] = line[row] + along(2, k, row) + centre[row] + map.offset[row];
        if (nearest)
          interpolation.nearest(place, voxel);
        else
          interpolation.linear(place, voxel);
      }
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

void add_noise(Sample& sample, double stddev, const RandomStream& stream, int64_t position) {
  sample.values = sample.values.contiguous();
  float* values = sample.values.mutable_data_ptr<float>();
  const int64_t count = sample.values.numel();
  const uint64_t first = kFirstNoise + static_cast<uint64_t>(position * count);
  for (int64_t i = 0; i < count; ++i)
    values[i] += static_cast<float>(stddev * stream.normal(first + static_cast<uint64_t>(i)));
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
  require((!affine && config.quarter_rotations.empty()) || batch.values.dim() == 5, ErrorKind::config,
          "augment: rotate, scale, stretch and rotate90_axes are for volumes with 3 axes, these have {}",
          batch.values.dim() - 2);
  for (const int64_t axis : config.flips)
    require(axis < batch.values.dim() - 2, ErrorKind::config,
            "augment.flip_axes contains {}, but the volumes have axes 0 to {}", axis, batch.values.dim() - 3);
  const auto augment = [&](int64_t i) {
    Draws draws(stream, i);
    Sample sample{batch.values.select(0, i), batch.valid.defined() ? batch.valid.select(0, i) : at::Tensor()};
    flip_and_turn(sample, config, draws);
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
  };
  at::parallel_for(0, batch.values.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) augment(i);
  });
}

void transform_for_evaluation(LabelledBatch& batch, const AugmentConfig& config) {
  if (config.shape_transform) batch.values.mul_(0.5);
}

LabelledBatch flipped(const LabelledBatch& batch, const std::vector<int64_t>& axes, uint64_t flip) {
  std::vector<int64_t> flipped;
  for (size_t i = 0; i < axes.size(); ++i)
    if ((flip >> i & 1) != 0) flipped.push_back(axes[i] + 1);
  if (flipped.empty()) return batch;
  LabelledBatch out{at::flip(batch.values, flipped), {}, batch.labels};
  if (batch.valid.defined()) out.valid = at::flip(batch.valid, flipped);
  return out;
}

}  // namespace modewise::data
