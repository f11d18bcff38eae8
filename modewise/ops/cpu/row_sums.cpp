#include "modewise/ops/cpu/row_sums.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/row_tasks.h"

namespace modewise::ops {

namespace {

template <class Body>
void dispatch(at::ScalarType type, const Body& body) {
  if (type == at::kDouble) return body.template operator()<double>();
  if (type == at::kBFloat16) return body.template operator()<at::BFloat16>();
  body.template operator()<float>();
}

/// to[i] = Σ_p parts[p, i], summed in double, a few columns at a time.
template <class From, class To>
void add_parts(const From* parts, int64_t count, int64_t n, To* to) {
  at::parallel_for(0, n, kChunkElements, [&](int64_t begin, int64_t end) {
    constexpr int64_t kTogether = 256;
    std::array<double, kTogether> sums;
    for (int64_t first = begin; first < end; first += kTogether) {
      const int64_t width = std::min(kTogether, end - first);
      sums.fill(0);
      for (int64_t p = 0; p < count; ++p) {
        const From* part = parts + p * n + first;
        for (int64_t i = 0; i < width; ++i) sums[static_cast<size_t>(i)] += static_cast<double>(part[i]);
      }
      for (int64_t i = 0; i < width; ++i) to[first + i] = static_cast<To>(sums[static_cast<size_t>(i)]);
    }
  });
}

}  // namespace

at::Tensor sum_in_order(const at::Tensor& parts, at::ScalarType type) {
  const auto wide = accumulate_type(parts.scalar_type());
  const auto sum = at::empty(parts.sizes().slice(1), parts.options().dtype(wide));
  dispatch(parts.scalar_type(), [&]<class T>() {
    const auto* from = static_cast<const T*>(parts.const_data_ptr());
    if (wide == at::kDouble)
      add_parts(from, parts.size(0), sum.numel(), sum.mutable_data_ptr<double>());
    else
      add_parts(from, parts.size(0), sum.numel(), sum.mutable_data_ptr<float>());
  });
  return sum.to(type);
}

at::Tensor sum_over_rows(const at::Tensor& x, at::ScalarType type) {
  const int64_t count = x.size(0), m = x.size(1), chunk = chunk_rows(m);
  const auto wide = x.options().dtype(accumulate_type(x.scalar_type()));
  const auto parts = at::zeros({(count + chunk - 1) / chunk, m}, wide);
  dispatch(x.scalar_type(), [&]<class T>() {
    using Wide = at::opmath_type<T>;
    const auto* from = static_cast<const T*>(x.const_data_ptr());
    auto* to = static_cast<Wide*>(parts.mutable_data_ptr());
    for_row_chunks(count, chunk, [&](int64_t begin, int64_t end) {
      add_in_pieces(begin, end, m, to + begin / chunk * m, [&](int64_t first, int64_t last, Wide* piece) {
        for (int64_t row = first; row < last; ++row)
          for (int64_t c = 0; c < m; ++c) piece[c] += static_cast<Wide>(from[row * m + c]);
      });
    });
  });
  return sum_in_order(parts, type);
}

}  // namespace modewise::ops
