#include "modewise/analysis/canonical_decomposition.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cholesky_solve.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_cholesky_ex.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_pinv.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "modewise/analysis/one_thread.h"
#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::analysis {
namespace {

using Factors = std::vector<at::Tensor>;

double number(const at::Tensor& scalar) {
  return scalar.item<double>();
}

at::Tensor random_columns(int64_t rows, int64_t columns, const RandomStream& stream) {
  const at::Tensor out = at::empty({rows, columns}, at::kDouble);
  auto* values = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  return out / std::sqrt(static_cast<double>(rows));
}

/// Khatri-Rao product of all factors but `left_out`, first mode slowest: [rest, R].
at::Tensor khatri_rao(const Factors& factors, size_t left_out) {
  at::Tensor out;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (i == left_out) continue;
    out = out.defined() ? (out.unsqueeze(1) * factors[i].unsqueeze(0)).flatten(0, 1) : factors[i];
  }
  return out;
}

/// Rescales the factors to equal column norms in all modes, so that none overflows while another vanishes.
void balance(Factors& factors) {
  at::Tensor product;
  std::vector<at::Tensor> lengths;
  for (const at::Tensor& factor : factors) {
    const at::Tensor length = at::linalg_vector_norm(factor, 2, at::IntArrayRef{0});
    lengths.push_back(at::where(length.gt(0), length, at::ones({}, length.options())));
    product = product.defined() ? product * length : length;
  }
  const at::Tensor share = product.pow(1.0 / static_cast<double>(factors.size()));
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = factors[i] / lengths[i] * share;
}

/// ALS result of one start.
struct Fit {
  Factors factors;
  double error = 1;
  int64_t iterations = 0;
};

class AlternatingLeastSquares {
 public:
  explicit AlternatingLeastSquares(const at::Tensor& tensor)
      : squared_norm_(number(tensor.square().sum())), order_(static_cast<size_t>(tensor.dim())) {
    for (int64_t mode = 0; mode < tensor.dim(); ++mode) unfoldings_.push_back(unfolded(tensor, mode));
  }

  Fit run(Factors factors, const CanonicalOptions& options) const {
    constexpr int64_t kFirstSearch = 5, kSearchEvery = 3;
    Fit best;
    Factors before = factors;
    double last = 2, root = 2;  // line search extrapolates by iteration^(1/root) (Bro 1998)
    int64_t quiet = 0;
    for (int64_t iteration = 1; iteration <= options.iterations; ++iteration) {
      double error = sweep(factors);
      balance(factors);
      if (iteration >= kFirstSearch && iteration % kSearchEvery == 0) {
        Factors ahead;
        const double step = std::pow(static_cast<double>(iteration), 1 / root);
        for (size_t i = 0; i < order_; ++i) ahead.push_back(before[i] + (factors[i] - before[i]) * step);
        const double reached = error_of(ahead);
        if (reached < error) {
          factors = std::move(ahead);
          error = reached;
        } else {
          root = std::min(root + 0.5, 8.0);
        }
      }
      best.iterations = iteration;
      if (error < best.error || best.factors.empty()) {
        best.error = error;
        best.factors = factors;
      }
      quiet = last - error < options.tolerance * last ? quiet + 1 : 0;
      last = std::min(error, last);
      if (quiet >= 3 || error < 1e-8) break;  // smaller errors are rounding, see `error`
      before = factors;
    }
    return best;
  }

 private:
  at::Tensor gram_of_others(const Factors& factors, size_t left_out) const {
    at::Tensor gram;
    for (size_t i = 0; i < order_; ++i) {
      if (i == left_out) continue;
      const at::Tensor own = at::matmul(factors[i].t(), factors[i]);
      gram = gram.defined() ? gram * own : own;
    }
    return gram;
  }

  /// Solves A G = M for the factor A.
  static at::Tensor solved(const at::Tensor& projected, const at::Tensor& gram) {
    const auto [lower, info] = at::linalg_cholesky_ex(gram);
    const at::Tensor diagonal = lower.diagonal();
    // Nearly equal columns make the Gram matrix numerically singular.
    const bool sound = info.item<int>() == 0 && number(diagonal.min()) > 1e-6 * number(diagonal.max());
    if (sound) return at::cholesky_solve(projected.t(), lower).t().contiguous();
    return at::matmul(projected, at::linalg_pinv(gram, 1e-13, /*hermitian=*/true));
  }

  /// From ‖T‖² − 2 ⟨T, X⟩ + ‖X‖²: no extra cost, but inaccurate below about 1e-8.
  double error(const at::Tensor& projected, const at::Tensor& gram, const at::Tensor& factor) const {
    const double inner = number((projected * factor).sum());
    const double own = number((gram * at::matmul(factor.t(), factor)).sum());
    return std::sqrt(std::max(0.0, squared_norm_ - 2 * inner + own) / squared_norm_);
  }

  double error_of(const Factors& factors) const {
    const size_t mode = order_ - 1;
    return error(at::matmul(unfoldings_[mode], khatri_rao(factors, mode)), gram_of_others(factors, mode),
                 factors[mode]);
  }

  double sweep(Factors& factors) const {
    double result = 0;
    for (size_t mode = 0; mode < order_; ++mode) {
      const at::Tensor projected = at::matmul(unfoldings_[mode], khatri_rao(factors, mode));
      const at::Tensor gram = gram_of_others(factors, mode);
      factors[mode] = solved(projected, gram);
      if (mode + 1 == order_) result = error(projected, gram, factors[mode]);
    }
    return result;
  }

  double squared_norm_;
  size_t order_;
  std::vector<at::Tensor> unfoldings_;
};

/// Leading left singular vectors of every unfolding, filled up with random columns.
Factors singular_start(const at::Tensor& tensor, int64_t rank, uint64_t seed) {
  Factors out;
  for (int64_t mode = 0; mode < tensor.dim(); ++mode) {
    const at::Tensor rows = unfolded(tensor, mode);
    const auto [values, vectors] = at::linalg_eigh(at::matmul(rows, rows.t()));
    at::Tensor leading = vectors.flip(1).narrow(1, 0, std::min(rank, rows.size(0)));
    if (leading.size(1) < rank)
      leading =
          at::cat({leading, random_columns(rows.size(0), rank - leading.size(1),
                                           {seed, RandomSite::decomposition, static_cast<uint64_t>(mode)})},
                  1);
    out.push_back(leading.contiguous());
  }
  return out;
}

Factors random_start(const at::Tensor& tensor, int64_t rank, uint64_t seed, int64_t start) {
  Factors out;
  for (int64_t mode = 0; mode < tensor.dim(); ++mode)
    out.push_back(random_columns(
        tensor.size(mode), rank,
        {seed, RandomSite::decomposition, static_cast<uint64_t>(start * tensor.dim() + mode)}));
  // Attention matrices are nonnegative: every other start is too.
  if (start % 2 == 0)
    for (at::Tensor& factor : out) factor = factor.abs();
  return out;
}

/// A smaller decomposition, extended by leading singular vectors of its residual.
Factors grown_start(const at::Tensor& tensor, int64_t rank, uint64_t seed,
                    const CanonicalDecomposition& smaller) {
  const int64_t more = rank - smaller.weights.size(0);
  const double order = static_cast<double>(tensor.dim());
  Factors out = singular_start(tensor - reconstructed(smaller), more, seed);
  const at::Tensor share = smaller.weights.pow(1 / order);
  // New columns are initially small: the first sweep scales them.
  const double scale =
      std::pow(std::max(smaller.error, 1e-8) * number(smaller.weights.max()), 1 / order) * 0.1;
  for (size_t i = 0; i < out.size(); ++i) out[i] = at::cat({smaller.factors[i] * share, out[i] * scale}, 1);
  return out;
}

/// Unit columns, descending weights; in every factor but the last, each column's largest entry is positive.
CanonicalDecomposition normalized(const at::Tensor& tensor, Fit fit, int64_t start) {
  CanonicalDecomposition out;
  for (at::Tensor& factor : fit.factors) {
    const at::Tensor length = at::linalg_vector_norm(factor, 2, at::IntArrayRef{0});
    factor = factor / at::where(length.gt(0), length, at::ones({}, length.options()));
    out.weights = out.weights.defined() ? out.weights * length : length;
  }
  const at::Tensor order = at::argsort(out.weights, /*stable=*/true, /*dim=*/0, /*descending=*/true);
  out.weights = out.weights.index_select(0, order);
  at::Tensor signs = at::ones_like(out.weights);
  for (size_t i = 0; i < fit.factors.size(); ++i) {
    at::Tensor factor = fit.factors[i].index_select(1, order);
    if (i + 1 < fit.factors.size()) {
      const at::Tensor sign =
          factor.gather(0, factor.abs().argmax(0, /*keepdim=*/true)).lt(0).to(at::kDouble).mul(-2).add(1)[0];
      factor = factor * sign;
      signs = signs * sign;
    } else {
      factor = factor * signs;
    }
    out.factors.push_back(factor.contiguous());
  }
  out.iterations = fit.iterations;
  out.start = start;
  out.error = relative_error(tensor, reconstructed(out));
  return out;
}

CanonicalDecomposition by_singular_values(const at::Tensor& matrix, int64_t rank) {
  const auto [u, s, vh] = at::linalg_svd(matrix, /*full_matrices=*/false);
  const int64_t kept = std::min(rank, s.size(0));
  Fit fit;
  fit.factors = {u.narrow(1, 0, kept) * s.narrow(0, 0, kept), vh.narrow(0, 0, kept).t().contiguous()};
  return normalized(matrix, std::move(fit), -1);
}

/// Calls `work` for each of `indices` in parallel, each call single-threaded.
template <class Work>
void for_each(const std::vector<size_t>& indices, const Work& work) {
  at::parallel_for(0, std::ssize(indices), 1, [&](int64_t begin, int64_t end) {
    const at::NoGradGuard no_grad;  // thread-local
    const OneThread one_thread;
    for (int64_t i = begin; i < end; ++i) work(indices[static_cast<size_t>(i)]);
  });
}

/// Local minima are many and close together: the cheaper a sweep, the more starts.
int64_t start_count(const at::Tensor& tensor, int64_t rank, const CanonicalOptions& options) {
  if (options.starts > 0) return options.starts;
  return std::clamp<int64_t>(int64_t{12'000'000} / (tensor.numel() * rank), 8, 96);
}

CanonicalDecomposition by_least_squares(const at::Tensor& tensor, int64_t rank,
                                        const CanonicalOptions& options,
                                        const CanonicalDecomposition* smaller) {
  const AlternatingLeastSquares problem(tensor);
  std::vector<size_t> starts;
  const auto count = static_cast<size_t>(start_count(tensor, rank, options));
  for (size_t start = smaller == nullptr ? 1 : 0; start <= count; ++start) starts.push_back(start);
  std::vector<Fit> fits(starts.back() + 1);
  CanonicalOptions trial = options;
  trial.iterations = std::min(options.trial, options.iterations);
  for_each(starts, [&](size_t start) {
    fits[start] =
        problem.run(start == 0   ? grown_start(tensor, rank, options.seed, *smaller)
                    : start == 1 ? singular_start(tensor, rank, options.seed)
                                 : random_start(tensor, rank, options.seed, static_cast<int64_t>(start)),
                    trial);
  });
  std::stable_sort(starts.begin(), starts.end(),
                   [&](size_t a, size_t b) { return fits[a].error < fits[b].error; });
  starts.resize((starts.size() + 3) / 4);
  CanonicalOptions rest = options;
  rest.iterations = options.iterations - trial.iterations;
  if (rest.iterations > 0 && fits[starts.front()].error > 1e-8)
    for_each(starts, [&](size_t start) {
      const int64_t before = fits[start].iterations;
      fits[start] = problem.run(std::move(fits[start].factors), rest);
      fits[start].iterations += before;
    });
  const size_t best = *std::min_element(starts.begin(), starts.end(),
                                        [&](size_t a, size_t b) { return fits[a].error < fits[b].error; });
  const OneThread one_thread;
  return normalized(tensor, std::move(fits[best]), static_cast<int64_t>(best));
}

}  // namespace

at::Tensor unfolded(const at::Tensor& tensor, int64_t mode) {
  return tensor.movedim(mode, 0).reshape({tensor.size(mode), -1});
}

double relative_error(const at::Tensor& tensor, const at::Tensor& approximation) {
  const double size = number(at::linalg_vector_norm(tensor));
  const double left = number(at::linalg_vector_norm(tensor - approximation));
  return size > 0 ? left / size : left > 0 ? INFINITY : 0;
}

at::Tensor reconstructed(const CanonicalDecomposition& decomposition) {
  const Factors& factors = decomposition.factors;
  std::vector<int64_t> sizes;
  for (const at::Tensor& factor : factors) sizes.push_back(factor.size(0));
  if (factors.size() == 1) return at::matmul(factors.front(), decomposition.weights);
  return at::matmul(factors.front() * decomposition.weights, khatri_rao(factors, 0).t()).reshape(sizes);
}

CanonicalDecomposition canonical_decomposition(const at::Tensor& tensor, int64_t rank,
                                               const CanonicalOptions& options,
                                               const CanonicalDecomposition* smaller) {
  require(tensor.dim() >= 1 && tensor.numel() > 0 && rank >= 1, ErrorKind::internal,
          "canonical_decomposition: expected a non-empty tensor and a rank of at least 1, got [{}] and {}",
          fmt::join(tensor.sizes(), ", "), rank);
  const at::NoGradGuard no_grad;
  const at::Tensor values = tensor.to(at::kDouble).contiguous();
  if (number(at::linalg_vector_norm(values)) == 0) {
    CanonicalDecomposition zero;
    zero.weights = at::zeros({rank}, at::kDouble);
    for (const int64_t size : values.sizes()) {
      zero.factors.push_back(at::zeros({size, rank}, at::kDouble));
      zero.factors.back()[0].fill_(1);
    }
    return zero;
  }
  if (values.dim() >= 3) {
    // An exact decomposition needs no further terms.
    if (smaller != nullptr && smaller->error < 1e-12) return *smaller;
    return by_least_squares(values, rank, options, smaller);
  }
  const OneThread one_thread;
  if (values.dim() == 2) return by_singular_values(values, rank);
  Fit fit;
  fit.factors = {values.unsqueeze(1)};
  return normalized(values, std::move(fit), -1);
}

}  // namespace modewise::analysis
