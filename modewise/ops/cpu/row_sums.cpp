#include "modewise/ops/cpu/row_sums.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>

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

}  // namespace

at::Tensor sum_in_order(const at::Tensor& parts, at::ScalarType type) {
  const auto wide = parts.options().dtype(accumulate_type(parts.scalar_type()));
  const auto sum = at::empty(parts.sizes().slice(1), wide);
  const int64_t count = parts.size(0), n = sum.numel();
  dispatch(parts.scalar_type(), [&]<class T>() {
    using Wide = at::opmath_type<T>;
    const auto* from = static_cast<const T*>(parts.const_data_ptr());
    auto* to = static_cast<Wide*>(sum.mutable_data_ptr());
    at::parallel_for(0, n, kChunkElements, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = 0;
      for (int64_t p = 0; p < count; ++p)
        for (int64_t i = begin; i < end; ++i) to[i] += static_cast<Wide>(from[p * n + i]);
    });
  });
  return sum.to(type);
}

at::Tensor sum_over_rows(const at::Tensor& x, at::ScalarType type) {
  const int64_t count = x.size(0), m = x.size(1), chunk = chunk_rows(m);
  const auto wide = x.options().dtype(accumulate_type(x.scalar_type()));
  const auto parts = at::empty({(count + chunk - 1) / chunk, m}, wide);
  dispatch(x.scalar_type(), [&]<class T>() {
    using Wide = at::opmath_type<T>;
    const auto* from = static_cast<const T*>(x.const_data_ptr());
    auto* to = static_cast<Wide*>(parts.mutable_data_ptr());
    for_row_chunks(count, chunk, [&](int64_t begin, int64_t end) {
      Wide* part = to + begin / chunk * m;
      for (int64_t c = 0; c < m; ++c) part[c] = 0;
      for (int64_t row = begin; row < end; ++row)
        for (int64_t c = 0; c < m; ++c) part[c] += static_cast<Wide>(from[row * m + c]);
    });
  });
  return sum_in_order(parts, type);
}

}  // namespace modewise::ops
