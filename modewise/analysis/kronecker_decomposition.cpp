#include "modewise/analysis/kronecker_decomposition.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "modewise/core/error.h"

namespace modewise::analysis {
namespace {

int64_t element_count(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

KroneckerDecomposition as_matrices(const CanonicalDecomposition& canonical,
                                   const std::vector<int64_t>& modes) {
  KroneckerDecomposition out{canonical.weights, {}, canonical.error, canonical.iterations, canonical.start};
  for (size_t i = 0; i < modes.size(); ++i)
    out.factors.push_back(canonical.factors[i].t().reshape({-1, modes[i], modes[i]}).contiguous());
  return out;
}

}  // namespace

int64_t KroneckerDecomposition::parameters() const {
  int64_t numbers = 0;
  for (const at::Tensor& factor : factors) numbers += factor.numel();
  return numbers;
}

at::Tensor rearranged(const at::Tensor& matrix, const std::vector<int64_t>& rows,
                      const std::vector<int64_t>& columns) {
  require(rows.size() == columns.size() && !rows.empty(), ErrorKind::internal,
          "rearranged: {} row modes, {} column modes", rows.size(), columns.size());
  require(
      matrix.dim() == 2 && matrix.size(0) == element_count(rows) && matrix.size(1) == element_count(columns),
      ErrorKind::data, "expected a matrix of {} × {} for modes {}, got {}", element_count(rows),
      element_count(columns), fmt::join(rows, " × "), fmt::join(matrix.sizes(), " × "));
  const auto k = static_cast<int64_t>(rows.size());
  std::vector<int64_t> split = rows, order, merged;
  split.insert(split.end(), columns.begin(), columns.end());
  for (int64_t i = 0; i < k; ++i) {
    order.push_back(i);
    order.push_back(k + i);
    merged.push_back(rows[static_cast<size_t>(i)] * columns[static_cast<size_t>(i)]);
  }
  return matrix.reshape(split).permute(order).reshape(merged);
}

at::Tensor arranged_back(const at::Tensor& tensor, const std::vector<int64_t>& rows,
                         const std::vector<int64_t>& columns) {
  std::vector<int64_t> pairs, order;
  const auto k = static_cast<int64_t>(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) pairs.insert(pairs.end(), {rows[i], columns[i]});
  for (int64_t i = 0; i < k; ++i) order.push_back(2 * i);
  for (int64_t i = 0; i < k; ++i) order.push_back(2 * i + 1);
  return tensor.reshape(pairs).permute(order).reshape({element_count(rows), element_count(columns)});
}

KroneckerDecomposition kronecker_decomposition(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                               int64_t rank, const CanonicalOptions& options) {
  return as_matrices(canonical_decomposition(rearranged(matrix, modes, modes), rank, options), modes);
}

std::vector<KroneckerDecomposition> kronecker_decompositions(const at::Tensor& matrix,
                                                             const std::vector<int64_t>& modes,
                                                             const std::vector<int64_t>& ranks,
                                                             const CanonicalOptions& options, double enough) {
  const at::Tensor tensor = rearranged(matrix, modes, modes);
  std::vector<KroneckerDecomposition> out;
  CanonicalDecomposition last;
  for (const int64_t rank : ranks) {
    last = canonical_decomposition(tensor, rank, options, out.empty() ? nullptr : &last);
    out.push_back(as_matrices(last, modes));
    if (last.error <= enough) break;
  }
  return out;
}

at::Tensor reconstructed(const KroneckerDecomposition& decomposition) {
  CanonicalDecomposition canonical;
  canonical.weights = decomposition.weights;
  std::vector<int64_t> rows, columns;
  for (const at::Tensor& factor : decomposition.factors) {
    rows.push_back(factor.size(1));
    columns.push_back(factor.size(2));
    canonical.factors.push_back(factor.flatten(1).t());
  }
  return arranged_back(reconstructed(canonical), rows, columns);
}

int64_t exact_rank(const std::vector<int64_t>& modes) {
  const int64_t largest = modes.empty() ? 1 : *std::max_element(modes.begin(), modes.end());
  return element_count(modes) * element_count(modes) / (largest * largest);
}

KroneckerDecomposition exact_kronecker_decomposition(const at::Tensor& matrix,
                                                     const std::vector<int64_t>& modes) {
  const at::Tensor tensor = rearranged(matrix.to(at::kDouble), modes, modes);
  const auto kept = static_cast<size_t>(std::max_element(modes.begin(), modes.end()) - modes.begin());
  const int64_t rank = exact_rank(modes);
  KroneckerDecomposition out;
  // Term r is one index of the other modes: their factors are unit matrices, the kept mode's factor is the
  // fibre at that index.
  const at::Tensor fibres = unfolded(tensor, static_cast<int64_t>(kept)).t();  // [R, N²]
  const at::Tensor length = at::linalg_vector_norm(fibres, 2, at::IntArrayRef{1});
  const at::Tensor order = length.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  out.weights = length.index_select(0, order);
  const at::Tensor divisor = at::where(length.gt(0), length, at::ones({}, length.options())).unsqueeze(1);
  int64_t repeats = rank, inner = rank;
  for (size_t i = 0; i < modes.size(); ++i) {
    const int64_t n = modes[i];
    at::Tensor factor;
    if (i == kept) {
      factor = fibres / divisor;
    } else {
      inner /= n * n;
      factor = at::eye(n * n, at::kDouble).repeat_interleave(inner, 0).repeat({repeats / (n * n * inner), 1});
    }
    out.factors.push_back(factor.index_select(0, order).reshape({rank, n, n}));
  }
  out.error = relative_error(arranged_back(tensor, modes, modes), reconstructed(out));
  return out;
}

}  // namespace modewise::analysis
