#include "modewise/ops/attention/random_features.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "modewise/core/random.h"
#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::ops {

namespace {

// Added to every feature: keeps the softmax denominator positive when all products underflow (attention is
// then uniform), and is far below rounding errors otherwise.
constexpr double kFloor = 1e-18;

// Orthonormalises the rows of block [count, width] by modified Gram-Schmidt, twice for accuracy.
void orthonormalise(double* block, int64_t count, int64_t width) {
  for (int64_t i = 0; i < count; ++i) {
    double* row = block + i * width;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < i; ++j) {
        const double* other = block + j * width;
        double dot = 0;
        for (int64_t c = 0; c < width; ++c) dot += row[c] * other[c];
        for (int64_t c = 0; c < width; ++c) row[c] -= dot * other[c];
      }
    }
    double square = 0;
    for (int64_t c = 0; c < width; ++c) square += row[c] * row[c];
    const double scale = 1 / std::sqrt(square);
    for (int64_t c = 0; c < width; ++c) row[c] *= scale;
  }
}

// Squared length of a Gaussian vector: sum of squares of `width` values from `first` on.
double squared_length(const RandomStream& stream, int64_t first, int64_t width) {
  double square = 0;
  for (int64_t c = 0; c < width; ++c) {
    const double value = stream.normal(static_cast<uint64_t>(first + c));
    square += value * value;
  }
  return square;
}

at::Tensor draw_projection(int64_t width, int64_t features, int64_t seed, int64_t mode, bool regularised) {
  const RandomStream stream{static_cast<uint64_t>(seed), RandomSite::features, static_cast<uint64_t>(mode)};
  auto projection = at::empty({features, width}, at::TensorOptions(at::kCPU).dtype(at::kDouble));
  auto* rows = projection.mutable_data_ptr<double>();
  const int64_t values = features * width;
  for (int64_t i = 0; i < values; ++i) rows[i] = stream.normal(static_cast<uint64_t>(i));
  for (int64_t first = 0; first < features; first += width)
    orthonormalise(rows + first * width, std::min(width, features - first), width);
  // Lengths of independent Gaussian vectors, so that each row on its own is Gaussian; or the root of their
  // mean square.
  for (int64_t i = 0; i < features; ++i) {
    const double length = std::sqrt(regularised ? static_cast<double>(width)
                                                : squared_length(stream, values + i * width, width));
    for (int64_t c = 0; c < width; ++c) rows[i * width + c] *= length;
  }
  return projection;
}

void check_orthogonal_projection_args(const at::Tensor& like, int64_t width, int64_t features, int64_t mode) {
  constexpr auto kOp = "orthogonal_projection";
  check_floating(kOp, "like", like);
  TORCH_CHECK_VALUE(width >= 1 && features >= 1 && width <= kMaxInteger / features, kOp,
                    ": width and features must be positive, and their product at most ", kMaxInteger,
                    ", got ", width, " and ", features);
  check_integer(kOp, "mode", mode, 0);
}

at::TensorOptions projection_options(const at::Tensor& like) {
  return like.options().dtype(accumulate_type(like.scalar_type()));
}

// Drawn on the CPU for every device. A model requests the same few projections in every step, so the last
// ones are cached.
at::Tensor orthogonal_projection_drawn(const at::Tensor& like, int64_t width, int64_t features, int64_t seed,
                                       int64_t mode, bool regularised) {
  check_orthogonal_projection_args(like, width, features, mode);
  using Key = std::array<int64_t, 5>;
  constexpr size_t kKept = 64;
  static std::mutex mutex;
  static std::map<Key, at::Tensor> kept;
  const std::lock_guard lock(mutex);
  const Key key = {width, features, seed, mode, regularised ? 1 : 0};
  auto found = kept.find(key);
  if (found == kept.end()) {
    if (kept.size() >= kKept) kept.clear();
    found = kept.emplace(key, draw_projection(width, features, seed, mode, regularised)).first;
  }
  return found->second.to(projection_options(like), /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor orthogonal_projection_meta(const at::Tensor& like, int64_t width, int64_t features, int64_t,
                                      int64_t mode, bool) {
  check_orthogonal_projection_args(like, width, features, mode);
  return at::empty({features, width}, projection_options(like));
}

// If all keys are masked the denominator is 0 and the row is 0.
at::Tensor normalised(const at::Tensor& queries, const at::Tensor& keys) {
  const auto total = ops::matmul(queries, keys.sum(2).unsqueeze(-1));
  const auto some = total.gt(0);
  return queries * at::where(some, at::where(some, total, at::zeros({}, total.options()) + 1).reciprocal(),
                             at::zeros({}, total.options()));
}

}  // namespace

at::Tensor orthogonal_projection(const at::Tensor& like, int64_t width, int64_t features, int64_t seed,
                                 int64_t mode, bool regularised) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::orthogonal_projection", "")
                             .typed<decltype(orthogonal_projection)>();
  return op.call(like, width, features, seed, mode, regularised);
}

RandomFeatures random_features(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                               const at::Tensor& projection, const std::optional<at::Tensor>& key_mask) {
  const auto type = accumulate_type(q.scalar_type());
  const int64_t width = known_size(q, -1) / heads;
  const double root = 1 / std::sqrt(std::sqrt(static_cast<double>(width)));
  const auto by_head = [&](const at::Tensor& t) {
    return t.to(type).unflatten(-1, {heads, width}).transpose(1, 2) * root;  // [B, H, N, d]
  };
  const auto query = ops::linear(by_head(q), projection);
  const auto key_rows = by_head(k);
  auto key = ops::linear(key_rows, projection) - key_rows.square().sum(-1, true) * 0.5;
  std::optional<at::Tensor> removed;
  if (key_mask) removed = key_mask->logical_not().unsqueeze(1).unsqueeze(-1);
  if (removed) key = key.masked_fill(*removed, -std::numeric_limits<double>::infinity());
  // Both maxima cancel in the softmax denominator, so they are constants for the gradient. A fully masked
  // sample has none.
  const auto query_top = at::amax(query.detach(), -1, true);
  auto key_top = known_size(key, 2) == 0 ? at::zeros({}, key.options())
                                         : at::amax(key.detach(), at::IntArrayRef{2, 3}, true);
  key_top = key_top.masked_fill(key_top.isinf(), 0);
  const auto queries = ops::elementary(query - query_top, "exp") + kFloor;
  auto keys = ops::elementary(key - key_top, "exp") + kFloor;
  if (removed) keys = keys.masked_fill(*removed, 0);
  return {normalised(queries, keys), keys};
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "orthogonal_projection(Tensor like, int width, int features, int seed, int mode, bool "
      "regularised=False) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("orthogonal_projection", orthogonal_projection_drawn);
}
TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("orthogonal_projection", orthogonal_projection_meta);
}

}  // namespace modewise::ops
