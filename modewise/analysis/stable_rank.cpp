#include "modewise/analysis/stable_rank.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "modewise/analysis/spectral_norm.h"
#include "modewise/core/error.h"

namespace modewise::analysis {
namespace {

at::Tensor plain(const at::Tensor& matrices) {
  return matrices.detach().to(at::kCPU, at::kDouble).contiguous();
}

double squared_norm(const double* values, int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return sum;
}

/// y += A x along one mode of x, viewed as [outer, n, inner]; A [m, n] with (row, column) strides.
void add_mode_product(const double* a, int64_t row_stride, int64_t column_stride, int64_t m, int64_t n,
                      int64_t outer, int64_t inner, const double* x, double* y) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < m; ++i) {
      double* out = y + (o * m + i) * inner;
      for (int64_t j = 0; j < n; ++j) {
        const double weight = a[i * row_stride + j * column_stride];
        const double* in = x + (o * n + j) * inner;
#pragma omp simd
        for (int64_t c = 0; c < inner; ++c) out[c] += weight * in[c];
      }
    }
}

double matrix_norm(const double* a, int64_t rows, int64_t columns) {
  const auto map = [=](bool transposed) {
    return [=](const double* x, double* y) {
      const int64_t m = transposed ? columns : rows, n = transposed ? rows : columns;
      std::fill(y, y + m, 0.0);
      if (transposed) {
        for (int64_t j = 0; j < n; ++j) {
          const double weight = x[j];
#pragma omp simd
          for (int64_t i = 0; i < m; ++i) y[i] += weight * a[j * columns + i];
        }
        return;
      }
      for (int64_t i = 0; i < m; ++i) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < n; ++j) sum += a[i * columns + j] * x[j];
        y[i] = sum;
      }
    };
  };
  return spectral_norm({rows, columns, map(false), map(true)});
}

/// Fills a tensor of shape `leading` (samples and heads) with `value(index)`, in parallel.
template <class Value>
at::Tensor for_each_matrix(at::IntArrayRef leading, const Value& value) {
  const at::Tensor out = at::empty(leading, at::kDouble);
  auto* values = out.mutable_data_ptr<double>();
  at::parallel_for(0, out.numel(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = value(i);
  });
  return out;
}

/// Raw pointers to the matrices of one ModeFactors.
class Sum {
 public:
  explicit Sum(const ModeFactors& factors) : sizes_(factors.sizes), modes_(factors.modes) {
    for (const at::Tensor& matrix : factors.matrices) matrices_.push_back(plain(matrix));
    tokens_ = std::accumulate(sizes_.begin(), sizes_.end(), int64_t{1}, std::multiplies<>());
  }

  /// ‖⊕ S_i‖_F² = Σ_i (N/N_i) ‖S_i‖_F² + Σ_{i≠l} (N/(N_i N_l)) tr S_i tr S_l.
  double frobenius_squared(int64_t index) const {
    const auto all = static_cast<double>(tokens_);
    double sum = 0, traces = 0;  // traces: running sum of tr S_i / N_i
    for (size_t i = 0; i < modes_.size(); ++i) {
      const double* a = matrix(i, index);
      const int64_t n = size(i);
      const auto width = static_cast<double>(n);
      double trace = 0;
      for (int64_t j = 0; j < n; ++j) trace += a[j * n + j];
      sum += all / width * squared_norm(a, n * n) + 2 * all * traces * trace / width;
      traces += trace / width;
    }
    return sum;
  }

  double norm(int64_t index) const {
    const auto apply = [this, index](bool transposed) {
      return [this, index, transposed](const double* x, double* y) {
        std::fill(y, y + tokens_, 0.0);
        for (size_t i = 0; i < modes_.size(); ++i) {
          const int64_t n = size(i);
          int64_t inner = 1;
          for (size_t m = static_cast<size_t>(modes_[i]) + 1; m < sizes_.size(); ++m) inner *= sizes_[m];
          add_mode_product(matrix(i, index), transposed ? 1 : n, transposed ? n : 1, n, n,
                           tokens_ / (n * inner), inner, x, y);
        }
      };
    };
    return spectral_norm({tokens_, tokens_, apply(false), apply(true)});
  }

  double sum_of_norms(int64_t index) const {
    double sum = 0;
    for (size_t i = 0; i < modes_.size(); ++i) sum += matrix_norm(matrix(i, index), size(i), size(i));
    return sum;
  }

 private:
  int64_t size(size_t i) const { return sizes_[static_cast<size_t>(modes_[i])]; }
  const double* matrix(size_t i, int64_t index) const {
    return matrices_[i].const_data_ptr<double>() + index * size(i) * size(i);
  }

  const std::vector<int64_t>&sizes_, &modes_;
  std::vector<at::Tensor> matrices_;
  int64_t tokens_;
};

/// The common leading shape of all matrices.
at::IntArrayRef check(const char* what, const ModeFactors& factors) {
  require(!factors.matrices.empty() && factors.matrices.size() == factors.modes.size(), ErrorKind::internal,
          "{}: {} matrices for {} modes", what, factors.matrices.size(), factors.modes.size());
  const at::IntArrayRef leading =
      factors.matrices.front().sizes().slice(0, factors.matrices.front().dim() - 2);
  for (size_t i = 0; i < factors.modes.size(); ++i) {
    const at::Tensor& matrix = factors.matrices[i];
    const int64_t mode = factors.modes[i];
    require(mode >= 0 && mode < std::ssize(factors.sizes), ErrorKind::internal, "{}: there is no mode {}",
            what, mode);
    const int64_t n = factors.sizes[static_cast<size_t>(mode)];
    require(matrix.dim() >= 2 && matrix.size(-1) == n && matrix.size(-2) == n &&
                matrix.sizes().slice(0, matrix.dim() - 2) == leading,
            ErrorKind::internal, "{}: the matrix of mode {} must be [.., {}, {}], got [{}]", what, mode, n, n,
            fmt::join(matrix.sizes(), ", "));
  }
  return leading;
}

double ratio(double squared, double norm) {
  return norm > 0 ? squared / (norm * norm) : 0;
}

}  // namespace

at::Tensor stable_rank(const at::Tensor& matrices) {
  require(matrices.dim() >= 2, ErrorKind::internal, "stable_rank: matrices must be [.., M, N], got [{}]",
          fmt::join(matrices.sizes(), ", "));
  const at::Tensor values = plain(matrices);
  const int64_t rows = values.size(-2), columns = values.size(-1), count = rows * columns;
  const double* data = values.const_data_ptr<double>();
  return for_each_matrix(values.sizes().slice(0, values.dim() - 2), [=](int64_t i) {
    const double* a = data + i * count;
    return ratio(squared_norm(a, count), matrix_norm(a, rows, columns));
  });
}

at::Tensor product_stable_rank(const ModeFactors& factors) {
  check("product_stable_rank", factors);
  at::Tensor out;
  int64_t untouched =
      std::accumulate(factors.sizes.begin(), factors.sizes.end(), int64_t{1}, std::multiplies<>());
  for (size_t i = 0; i < factors.modes.size(); ++i) {
    const at::Tensor rank = stable_rank(factors.matrices[i]);
    out = out.defined() ? out * rank : rank;
    untouched /= factors.sizes[static_cast<size_t>(factors.modes[i])];
  }
  return untouched == 1 ? out : out * static_cast<double>(untouched);
}

at::Tensor sum_stable_rank(const ModeFactors& factors) {
  const at::IntArrayRef leading = check("sum_stable_rank", factors);
  const Sum sum(factors);
  return for_each_matrix(leading, [&](int64_t i) { return ratio(sum.frobenius_squared(i), sum.norm(i)); });
}

at::Tensor sum_stable_rank_printed(const ModeFactors& factors) {
  const at::IntArrayRef leading = check("sum_stable_rank_printed", factors);
  const Sum sum(factors);
  return for_each_matrix(leading,
                         [&](int64_t i) { return ratio(sum.frobenius_squared(i), sum.sum_of_norms(i)); });
}

}  // namespace modewise::analysis
