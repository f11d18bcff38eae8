#include "modewise/nn/attention/synthesizer_logits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "modewise/nn/layers/linear.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/dense/mode_product.h"

namespace modewise::nn {
namespace {

int64_t product(at::IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Checks that x has the tokens of `shape`, or fewer for a sequence.
void check_tokens(const SynthesizerShape& shape, const at::Tensor& x, int64_t columns) {
  const auto sizes = x.sizes().slice(1, static_cast<size_t>(x.dim() - 2));
  const bool sequence = shape.sizes.size() == 1;
  TORCH_CHECK_VALUE(
      sequence ? sizes.size() == 1 && sizes[0] <= shape.sizes[0] : sizes == at::IntArrayRef(shape.sizes),
      "a synthesizer built for tokens ", at::IntArrayRef(shape.sizes),
      sequence ? " takes at most as many" : " takes only these", ", got ", sizes);
  TORCH_CHECK_VALUE(columns <= shape.columns() && (sequence || columns == shape.columns()),
                    "a synthesizer built for ", shape.columns(), " keys takes ",
                    sequence ? "at most as many" : "exactly as many", ", got ", columns);
}

double stddev(int64_t fan_in) {
  return 1 / std::sqrt(static_cast<double>(fan_in));
}

class DenseLogits : public LogitSource {
 public:
  DenseLogits(Initializer& init, const SynthesizerShape& shape) : shape_(shape) {
    hidden_ = register_module("hidden", std::make_shared<Linear>(init, shape.width, shape.width));
    const int64_t d = shape.width / shape.heads;
    columns_ = register_parameter("columns", init.normal({shape.columns(), shape.heads, d}, stddev(d)));
    bias_ = register_parameter("columns_bias", at::zeros({shape.columns(), shape.heads, 1}));
  }

  ops::SynthesizedLogits logits(const at::Tensor& x, int64_t columns) const override {
    check_tokens(shape_, x, columns);
    const at::Tensor left = at::relu(hidden_->forward(x)).flatten(1, -2).unflatten(-1, {shape_.heads, -1});
    const auto ones = at::ones({left.size(0), left.size(1), left.size(2), 1}, left.options());
    const at::Tensor right = at::cat({cast_like(columns_, x), cast_like(bias_, x)}, -1);
    return {at::cat({left, ones}, -1), right.narrow(0, 0, columns).unsqueeze(0), {}, {}};
  }

 private:
  SynthesizerShape shape_;
  std::shared_ptr<Linear> hidden_;
  at::Tensor columns_, bias_;  // [M, H, d] and [M, H, 1]
};

/// The parameter [H, rows, columns], or its Kronecker factors.
class Matrices : public torch::nn::Module {
 public:
  Matrices(Initializer& init, int64_t heads, const FactorShapes& shapes, double total_stddev) {
    const auto count = static_cast<double>(shapes.rows.size());
    for (size_t i = 0; i < shapes.rows.size(); ++i)
      factors_.push_back(register_parameter(
          "factor" + std::to_string(i),
          init.normal({heads, shapes.rows[i], shapes.columns[i]}, std::pow(total_stddev, 1 / count))));
  }

  const std::vector<at::Tensor>& factors() const { return factors_; }

  /// Kronecker product of the factors [first, last), [H, Πα, Πβ]; 1 for an empty range.
  at::Tensor joined(size_t first, size_t last, const at::Tensor& like) const {
    if (first == last) return at::ones({factors_[0].size(0), 1, 1}, like.options());
    at::Tensor out = cast_like(factors_[first], like);
    for (size_t i = first + 1; i < last; ++i) out = kronecker_product(out, cast_like(factors_[i], like));
    return out;
  }
  at::Tensor joined(const at::Tensor& like) const { return joined(0, factors_.size(), like); }

 private:
  std::vector<at::Tensor> factors_;
};

/// Maps one axis of X [B, H, W, C] to one number, a second to rows, the third to columns.
class TensorLogits : public LogitSource {
 public:
  TensorLogits(Initializer& init, const SynthesizerShape& shape, ReducedAxis axis, int64_t factors)
      : shape_(shape),
        reduced_(axis == ReducedAxis::height  ? 0
                 : axis == ReducedAxis::width ? 1
                                              : 2) {
    const int64_t n = shape.rows(), sizes[] = {n / shape.last(), shape.last(), shape.width};
    TORCH_CHECK_VALUE(shape.columns() == n, "a tensor synthesizer has as many keys as tokens, ", n, ", got ",
                      shape.columns());
    const char* names[] = {"height", "width", "channel"};
    for (int i = 0; i < 3; ++i)
      axes_[i] = register_module(
          names[i], std::make_shared<Matrices>(init, shape.heads,
                                               balanced_factors(i == reduced_ ? 1 : n, sizes[i], factors),
                                               stddev(sizes[i])));
  }

  ops::SynthesizedLogits logits(const at::Tensor& x, int64_t columns) const override {
    check_tokens(shape_, x, columns);
    const int rows_axis = reduced_ == 0 ? 1 : 0, columns_axis = reduced_ == 2 ? 1 : 2;
    const at::Tensor grid = x.reshape({x.size(0), -1, shape_.last(), x.size(-1)});
    // The reduced axis L last, then a product with the heads' weights [L, H].
    const at::Tensor weights = axes_[reduced_]->joined(x).select(1, 0).t();
    const at::Tensor core = ops::matmul(grid.movedim(reduced_ + 1, -1), weights);  // [B, rows, columns, H]
    const at::Tensor left = ops::matmul(axes_[rows_axis]->joined(x), core.movedim(-1, 1));  // [B, H, N, c]
    return {left.transpose(1, 2), axes_[columns_axis]->joined(x).transpose(0, 1).unsqueeze(0), {}, {}};
  }

 private:
  SynthesizerShape shape_;
  int reduced_;
  std::shared_ptr<Matrices> axes_[3];
};

class RandomLogits : public LogitSource {
 public:
  RandomLogits(Initializer& init, const SynthesizerShape& shape, bool learned) : shape_(shape) {
    const at::Tensor values = init.normal({shape.heads, shape.rows(), shape.columns()}, 1);
    values_ = learned ? register_parameter("logits", values) : register_buffer("logits", values);
  }

  ops::SynthesizedLogits logits(const at::Tensor& x, int64_t columns) const override {
    check_tokens(shape_, x, columns);
    return {{}, {}, cast_like(values_, x).narrow(2, 0, columns), at::ones({shape_.heads, 1, 1}, x.options())};
  }

 private:
  SynthesizerShape shape_;
  at::Tensor values_;  // [H, N, M]
};

class FactorizedLogits : public LogitSource {
 public:
  FactorizedLogits(Initializer& init, const SynthesizerShape& shape, const FactorShapes& shapes)
      : shape_(shape) {
    TORCH_CHECK_VALUE(!shapes.rows.empty() && shapes.rows.size() == shapes.columns.size() &&
                          product(shapes.rows) == shape.rows() && product(shapes.columns) == shape.columns(),
                      "expected Kronecker factors of ", shape.rows(), " rows and ", shape.columns(),
                      " columns, got rows ", at::IntArrayRef(shapes.rows), " and columns ",
                      at::IntArrayRef(shapes.columns));
    factors_ = register_module("factors", std::make_shared<Matrices>(init, shape.heads, shapes, 1));
    // The split of the factors with the smallest memory.
    int64_t minimum = std::numeric_limits<int64_t>::max();
    for (size_t s = 1; s <= shapes.rows.size(); ++s) {
      const auto size = [&](size_t first, size_t last) {
        int64_t out = 1;
        for (size_t i = first; i < last; ++i) out *= shapes.rows[i] * shapes.columns[i];
        return out;
      };
      if (const int64_t held = size(0, s) + size(s, shapes.rows.size()); held < minimum)
        minimum = held, split_ = s;
    }
  }

  ops::SynthesizedLogits logits(const at::Tensor& x, int64_t columns) const override {
    check_tokens(shape_, x, columns);
    return {{}, {}, factors_->joined(0, split_, x), factors_->joined(split_, factors_->factors().size(), x)};
  }

 private:
  SynthesizerShape shape_;
  std::shared_ptr<Matrices> factors_;
  size_t split_ = 1;
};

class MixedLogits : public LogitSource {
 public:
  explicit MixedLogits(std::vector<std::shared_ptr<LogitSource>> sources) : sources_(std::move(sources)) {
    for (size_t i = 0; i < sources_.size(); ++i) register_module("source" + std::to_string(i), sources_[i]);
    theta_ = register_parameter("theta", at::zeros({static_cast<int64_t>(sources_.size())}));
  }

  ops::SynthesizedLogits logits(const at::Tensor& x, int64_t columns) const override {
    const at::Tensor shares = cast_like(ops::softmax(theta_), x);
    ops::SynthesizedLogits sum;
    std::vector<at::Tensor> left, right;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const ops::SynthesizedLogits one = sources_[i]->logits(x, columns);
      const at::Tensor share = shares[static_cast<int64_t>(i)];
      if (one.left.defined()) {
        left.push_back(one.left * share);
        right.push_back(one.right);
      }
      if (!one.outer.defined()) continue;
      TORCH_CHECK_VALUE(!sum.outer.defined(), "a mixture takes one source with Kronecker factors, got two");
      sum.outer = one.outer * share;
      sum.inner = one.inner;
    }
    if (!left.empty()) sum.left = at::cat(left, -1), sum.right = at::cat(right, -1);
    return sum;
  }

 private:
  std::vector<std::shared_ptr<LogitSource>> sources_;
  at::Tensor theta_;
};

/// The largest divisor of n that is at most its `count`-th root.
int64_t near_root(int64_t n, int64_t count) {
  auto maximum = static_cast<int64_t>(
      std::floor(std::pow(static_cast<double>(n), 1.0 / static_cast<double>(count)) + 1e-9));
  while (n % maximum != 0) --maximum;
  return maximum;
}

/// `count` numbers whose product is n, large ones first.
std::vector<int64_t> balanced_divisors(int64_t n, int64_t count) {
  std::vector<int64_t> out;
  for (; count > 1; --count) {
    out.push_back(near_root(n, count));
    n /= out.back();
  }
  out.push_back(n);
  std::sort(out.rbegin(), out.rend());
  return out;
}

}  // namespace

int64_t SynthesizerShape::rows() const {
  return product(sizes);
}

int64_t SynthesizerShape::columns() const {
  return keys > 0 ? keys : rows();
}

at::Tensor kronecker_product(const at::Tensor& a, const at::Tensor& b) {
  return (a.unsqueeze(2).unsqueeze(4) * b.unsqueeze(1).unsqueeze(3)).flatten(3, 4).flatten(1, 2);
}

FactorShapes balanced_factors(int64_t rows, int64_t columns, int64_t count) {
  return {balanced_divisors(rows, count), balanced_divisors(columns, count)};
}

std::shared_ptr<LogitSource> make_dense_logits(Initializer& init, const SynthesizerShape& shape) {
  return std::make_shared<DenseLogits>(init, shape);
}

std::shared_ptr<LogitSource> make_tensor_logits(Initializer& init, const SynthesizerShape& shape,
                                                ReducedAxis axis, int64_t factors) {
  return std::make_shared<TensorLogits>(init, shape, axis, factors);
}

std::shared_ptr<LogitSource> make_random_logits(Initializer& init, const SynthesizerShape& shape,
                                                bool learned) {
  return std::make_shared<RandomLogits>(init, shape, learned);
}

std::shared_ptr<LogitSource> make_factorized_logits(Initializer& init, const SynthesizerShape& shape,
                                                    const FactorShapes& factors) {
  return std::make_shared<FactorizedLogits>(init, shape, factors);
}

std::shared_ptr<LogitSource> make_mixed_logits(std::vector<std::shared_ptr<LogitSource>> sources) {
  return std::make_shared<MixedLogits>(std::move(sources));
}

}  // namespace modewise::nn
