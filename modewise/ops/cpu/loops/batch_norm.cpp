// A channel's sums are chains of 16 rows, added in order: channels are independent, so results do not depend
// on the vector width.

#include "modewise/ops/cpu/loops/channels.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

/// Calls body(c, access) for all channels, whole vectors first.
template <class F, class Body>
inline void for_each_channel(int64_t channels, const Body& body) {
  int64_t c = 0;
  for (; c + kLanes<F> <= channels; c += kLanes<F>) body(c, ByVector());
  for (; c < channels; ++c) body(c, ByChannel());
}

/// Calls body(row, count) for 16 rows at a time.
template <class Body>
inline void for_pieces(int64_t begin, int64_t end, const Body& body) {
  constexpr int64_t kPieceRows = 16;
  for (int64_t row = begin; row < end; row += kPieceRows)
    body(row, end - row < kPieceRows ? end - row : kPieceRows);
}

template <class T>
void sums(const BatchNormPlan& plan, int64_t begin, int64_t end, void* to) {
  using F = Accumulate<T>;
  const int64_t channels = plan.channels;
  F* sums = as<F>(to);
  for_pieces(begin, end, [&](int64_t row, int64_t count) {
    const T* x = as<T>(plan.x) + row * channels;
    ask_ahead<false>(x, count * channels);
    for_each_channel<F>(channels, [&](int64_t c, auto at) {
      auto sum = at.read(x + c);
      for (int64_t i = 1; i < count; ++i) sum += at.read(x + i * channels + c);
      at.write(sums + c, at.read(sums + c) + sum);
    });
  });
}

template <class T>
void squares(const BatchNormPlan& plan, const void* centre, int64_t begin, int64_t end, void* to) {
  using F = Accumulate<T>;
  const int64_t channels = plan.channels;
  F* sums = as<F>(to);
  for_pieces(begin, end, [&](int64_t row, int64_t count) {
    const T* x = as<T>(plan.x) + row * channels;
    for_each_channel<F>(channels, [&](int64_t c, auto at) {
      const auto middle = at.read(as<F>(centre) + c);
      const auto first = at.read(x + c) - middle;
      auto sum = first * first;
      for (int64_t i = 1; i < count; ++i) {
        const auto apart = at.read(x + i * channels + c) - middle;
        sum += apart * apart;
      }
      at.write(sums + c, at.read(sums + c) + sum);
    });
  });
}

template <class T>
void normalise(const BatchNormPlan& plan, int64_t begin, int64_t end) {
  using F = Accumulate<T>;
  const int64_t channels = plan.channels;
  for (int64_t row = begin; row < end; ++row) {
    const T* x = as<T>(plan.x) + row * channels;
    T* out = as<T>(plan.out) + row * channels;
    ask_ahead<false>(x, channels);
    ask_ahead<true>(out, channels);
    for_each_channel<F>(channels, [&](int64_t c, auto at) {
      const auto apart = at.read(x + c) - at.read(as<F>(plan.mean) + c);
      at.write(out + c, apart * at.read(as<F>(plan.factor) + c) + at.read(as<F>(plan.shift) + c));
    });
  }
}

template <class T>
void gradient_sums(const BatchNormPlan& plan, int64_t begin, int64_t end, void* to) {
  using F = Accumulate<T>;
  const int64_t channels = plan.channels;
  F* of_grad = as<F>(to);
  F* of_products = of_grad + channels;
  for_pieces(begin, end, [&](int64_t row, int64_t count) {
    const T* x = as<T>(plan.x) + row * channels;
    const T* grad = as<T>(plan.grad) + row * channels;
    ask_ahead<false>(x, count * channels);
    ask_ahead<false>(grad, count * channels);
    for_each_channel<F>(channels, [&](int64_t c, auto at) {
      const auto mean = at.read(as<F>(plan.mean) + c);
      auto sum = at.read(grad + c), products = sum * (at.read(x + c) - mean);
      for (int64_t i = 1; i < count; ++i) {
        const auto above = at.read(grad + i * channels + c);
        sum += above;
        products += above * (at.read(x + i * channels + c) - mean);
      }
      at.write(of_grad + c, at.read(of_grad + c) + sum);
      at.write(of_products + c, at.read(of_products + c) + products);
    });
  });
}

template <class T>
void gradient(const BatchNormPlan& plan, int64_t begin, int64_t end) {
  using F = Accumulate<T>;
  const int64_t channels = plan.channels;
  for (int64_t row = begin; row < end; ++row) {
    const T* x = as<T>(plan.x) + row * channels;
    const T* grad = as<T>(plan.grad) + row * channels;
    T* out = as<T>(plan.out) + row * channels;
    ask_ahead<false>(x, channels);
    ask_ahead<false>(grad, channels);
    ask_ahead<true>(out, channels);
    for_each_channel<F>(channels, [&](int64_t c, auto at) {
      const auto apart = at.read(x + c) - at.read(as<F>(plan.mean) + c);
      const auto own =
          at.read(grad + c) - at.read(as<F>(plan.shift) + c) - apart * at.read(as<F>(plan.slope) + c);
      at.write(out + c, own * at.read(as<F>(plan.factor) + c));
    });
  }
}

template <class T>
constexpr BatchNormLoops<T> loops_of() {
  return {sums<T>, squares<T>, normalise<T>, gradient_sums<T>, gradient<T>};
}

}  // namespace

extern constexpr BatchNormLoops<float> batch_norm_f32 = loops_of<float>();
extern constexpr BatchNormLoops<double> batch_norm_f64 = loops_of<double>();
extern constexpr BatchNormLoops<Half16> batch_norm_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
