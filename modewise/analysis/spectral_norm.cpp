#include "modewise/analysis/spectral_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/core/random.h"

namespace modewise::analysis {
namespace {

constexpr double kSmallest = 1e-300;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(Vector& y, double factor, const Vector& x) {
#pragma omp simd
  for (size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

/// Orthogonalizes `x` against `basis` (twice is enough: Parlett), normalizes it and returns its norm; a norm
/// negligible relative to `scale` counts as 0.
double orthonormalize(Vector& x, const std::vector<Vector>& basis, double scale) {
  for (int pass = 0; pass < 2; ++pass)
    for (const Vector& b : basis) add(x, -dot(b, x), b);
  const double length = std::sqrt(dot(x, x));
  if (!(length > scale * 1e-15 + kSmallest)) return 0;
  for (double& v : x) v /= length;
  return length;
}

/// Largest eigenvalue of the symmetric tridiagonal matrix with diagonal 0 and these off-diagonals (= largest
/// singular value of the bidiagonal matrix with these entries), by bisection on the Sturm count.
double largest_eigenvalue(const Vector& off_diagonal) {
  double low = 0, high = 0, before = 0;
  for (const double e : off_diagonal) {
    low = std::max(low, e);
    high = std::max(high, before + e);
    before = e;
  }
  const auto above_all = [&](double x) {
    double pivot = -x;
    for (const double e : off_diagonal) {
      if (pivot >= 0) return false;
      pivot = -x - e * e / pivot;
    }
    return pivot < 0;
  };
  for (int i = 0; i < 200 && high - low > 1e-16 * high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (above_all(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double spectral_norm(const LinearMap& map, int64_t max_steps) {
  constexpr int kWindow = 8;  // stops after this many steps without growth
  if (map.rows == 0 || map.columns == 0) return 0;
  const int64_t steps = std::min({map.rows, map.columns, max_steps});
  std::vector<Vector> left, right;
  Vector off_diagonal, estimates;
  Vector x(static_cast<size_t>(map.columns));
  const RandomStream stream{static_cast<uint64_t>(map.columns), RandomSite::spectral_norm, 0};
  for (size_t i = 0; i < x.size(); ++i) x[i] = stream.normal(i);
  orthonormalize(x, right, 0);
  double scale = 0;
  for (int64_t step = 0; step < steps; ++step) {
    right.push_back(x);
    Vector y(static_cast<size_t>(map.rows));
    map.apply(right.back().data(), y.data());
    const double alpha = orthonormalize(y, left, scale);
    if (alpha == 0) break;
    off_diagonal.push_back(alpha);
    left.push_back(std::move(y));
    map.apply_transposed(left.back().data(), x.data());
    scale = std::max(scale, alpha);
    const double beta = orthonormalize(x, right, scale);
    if (beta == 0) break;
    off_diagonal.push_back(beta);
    scale = std::max(scale, beta);
    estimates.push_back(largest_eigenvalue(off_diagonal));
    const size_t n = estimates.size();
    if (n > kWindow && estimates[n - 1] - estimates[n - 1 - kWindow] <= 4e-16 * estimates[n - 1]) break;
  }
  return off_diagonal.empty() ? 0 : largest_eigenvalue(off_diagonal);
}

}  // namespace modewise::analysis
