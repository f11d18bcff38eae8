// GEMM bit by bit against the order of sums that gemm_plan.h specifies, for odd sizes and strides, every
// instruction set and several numbers of threads.

#include "modewise/ops/cpu/gemm.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/kernel_info.h"

namespace modewise::ops {
namespace {

const RandomStream numbers{17, RandomSite{91}, 0};

at::Tensor noise(std::vector<int64_t> sizes, at::ScalarType type, uint64_t place) {
  const at::Tensor x = at::empty(sizes, at::kDouble);
  auto* to = x.mutable_data_ptr<double>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = numbers.normal(place * 1000003 + static_cast<uint64_t>(i));
  return x.to(type);
}

/// a [M, K] in one of four layouts: contiguous rows, contiguous columns, every second element, broadcast row.
at::Tensor laid_out(int64_t rows, int64_t columns, at::ScalarType type, int layout, uint64_t place) {
  if (layout == 0) return noise({rows, columns}, type, place);
  if (layout == 1) return noise({columns, rows}, type, place).t();
  if (layout == 2) return noise({rows, 2 * columns + 1}, type, place).slice(1, 1, 2 * columns + 1, 2);
  return noise({1, columns}, type, place).expand({rows, columns});
}

/// One accumulation step: fused where the instruction set fuses.
template <class F>
F add_product(F sum, F a, F b, bool fused) {
  if (fused) return std::fma(a, b, sum);
  const volatile F product = a * b;
  return sum + product;
}

/// One element in AMX order: pieces of 256, of steps of 32, whose products at even and odd positions form two
/// chains from 0, added to each other, then to the piece.
float element_of_tiles(const std::vector<float>& a, const std::vector<float>& b) {
  float total = 0, piece = 0;
  const size_t depth = a.size();
  for (size_t begin = 0; begin < depth; begin += 32) {
    float chains[2] = {};
    const size_t end = std::min(begin + 32, depth);
    for (size_t k = begin; k < end; ++k) chains[k % 2] = std::fma(a[k], b[k], chains[k % 2]);
    piece = (begin % 256 == 0 ? 0 : piece) + (chains[0] + chains[1]);
    if (end % 256 != 0 && end != depth) continue;
    total = end <= 256 ? piece : total + piece;
  }
  return total;
}

/// One element in the specified order: pieces of 256 of chains of 64, each from 0, added in order.
template <class F>
F element(const std::vector<F>& a, const std::vector<F>& b, bool fused, bool pairs) {
  F total = 0, piece = 0;
  const auto depth = static_cast<int64_t>(a.size());
  for (int64_t begin = 0; begin < depth; begin += 64) {
    F sum = 0;
    const int64_t end = std::min<int64_t>(begin + 64, depth);
    const auto at = [&](int64_t k) { return static_cast<size_t>(k); };
    for (int64_t k = begin; k < end; ++k) {
      // The bfloat16 pair instruction adds the second product first.
      const int64_t other = pairs ? (k - begin) % 2 == 0 ? k + 1 : k - 1 : k;
      if (other < end) sum = add_product(sum, a[at(other)], b[at(other)], fused);
      if (pairs && other == end) sum = add_product(sum, a[at(k)], b[at(k)], fused);
    }
    piece = begin % 256 == 0 ? sum : piece + sum;
    if (end % 256 != 0 && end != depth) continue;
    total = end <= 256 ? piece : total + piece;
  }
  return total;
}

template <class F>
std::vector<F> values(const at::Tensor& x) {
  const at::Tensor dense = x.to(sizeof(F) == 8 ? at::kDouble : at::kFloat).contiguous();
  return {dense.const_data_ptr<F>(), dense.const_data_ptr<F>() + dense.numel()};
}

struct Case {
  int64_t m, k, n;
  int a, b;
  bool bias;
};

std::vector<Case> cases() {
  const int64_t sizes[] = {1, 2, 3, 5, 7, 17, 31, 33, 63, 65};
  std::vector<Case> out;
  for (const int64_t m : sizes)
    for (const int64_t k : sizes)
      for (const int64_t n : sizes) {
        const auto i = static_cast<int>(out.size());
        out.push_back({m, k, n, i % 4, i / 4 % 4, i % 3 == 0});
      }
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{3, 256, 49},
                                {9, 257, 7},
                                {5, 600, 97},
                                {200, 31, 5},
                                {193, 259, 50},
                                {97, 1025, 3},
                                {1, 0, 5},
                                {200, 0, 49},
                                {7, 511, 1}})
    for (int layout = 0; layout < 4; ++layout) out.push_back({m, k, n, layout, 3 - layout, layout % 2 == 0});
  return out;
}

class GemmOnEveryInstructionSet : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_isa(GetParam()); }
  void TearDown() override {
    use_isa(available_isas().back());
    at::set_num_threads(threads_);
  }

  static bool fused() {
#if defined(__x86_64__)
    return GetParam() != "scalar";
#else
    return true;
#endif
  }

  template <class F>
  static F wanted_element(const std::vector<F>& a, const std::vector<F>& b, at::ScalarType type) {
    const bool narrow = type == at::kBFloat16;
    if constexpr (std::is_same_v<F, float>)
      if (narrow && GetParam().starts_with("amx")) return element_of_tiles(a, b);
    return element(a, b, fused(), narrow && GetParam() == "avx512bf16");
  }

  template <class F>
  void check(at::ScalarType type) {
    uint64_t place = 0;
    for (const Case& c : cases()) {
      const at::Tensor a = laid_out(c.m, c.k, type, c.a, ++place), b = laid_out(c.k, c.n, type, c.b, ++place);
      const at::Tensor bias = c.bias ? noise({c.n}, type, ++place) : at::Tensor();
      // A border around the result detects out-of-bounds writes.
      const at::Tensor around = at::full({c.m + 2, c.n + 3}, 77, a.options());
      const at::Tensor out = around.narrow(0, 1, c.m).narrow(1, 1, c.n);
      gemm(type, {gemm_plan(a, b, bias, out)});
      for (int64_t at = 0; at < std::min<int64_t>(c.m * c.n, 40); ++at) {
        const int64_t cell = at * 7919 % (c.m * c.n), m = cell / c.n, n = cell % c.n;
        F wanted = wanted_element(values<F>(a[m]), values<F>(b.select(1, n)), type);
        if (c.bias) wanted += values<F>(bias)[static_cast<size_t>(n)];
        const at::Tensor rounded = at::full({}, static_cast<double>(wanted), at::kDouble).to(type);
        ASSERT_TRUE(at::equal(out[m][n], rounded))
            << c.m << " x " << c.k << " x " << c.n << " layouts " << c.a << c.b << " at " << m << ", " << n;
      }
      at::Tensor untouched = around.clone();
      untouched.narrow(0, 1, c.m).narrow(1, 1, c.n).fill_(77);
      ASSERT_TRUE(at::equal(untouched, at::full_like(untouched, 77))) << c.m << " " << c.k << " " << c.n;
    }
  }

 private:
  int threads_ = at::get_num_threads();
};

TEST_P(GemmOnEveryInstructionSet, SumsInTheStatedOrderInFloat32) {
  check<float>(at::kFloat);
}
TEST_P(GemmOnEveryInstructionSet, SumsInTheStatedOrderInFloat64) {
  check<double>(at::kDouble);
}
TEST_P(GemmOnEveryInstructionSet, SumsInTheStatedOrderInBfloat16) {
  check<float>(at::kBFloat16);
}

TEST_P(GemmOnEveryInstructionSet, GivesTheSameBitsForAnyNumberOfThreadsAndOfOtherRows) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{1000, 129, 203}, {3, 700, 2000}, {193, 65, 31}}) {
      const at::Tensor x = noise({m, k}, type, 1), weight = noise({n, k}, type, 2),
                       bias = noise({n}, type, 3);
      at::set_num_threads(1);
      const at::Tensor alone = ops::linear(x, weight, bias);
      for (const int threads : {2, 3, 5}) {
        at::set_num_threads(threads);
        EXPECT_TRUE(at::equal(ops::linear(x, weight, bias), alone))
            << threads << " threads, " << m << " rows";
        // Also inside a parallel region, row by row.
        std::vector<at::Tensor> rows(8);
        at::parallel_for(0, 8, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            rows[static_cast<size_t>(i)] = ops::linear(x.narrow(0, i % m, 1), weight, bias);
        });
        for (int64_t i = 0; i < 8; ++i)
          EXPECT_TRUE(at::equal(rows[static_cast<size_t>(i)][0], alone[i % m])) << threads << ", row " << i;
      }
    }
  }
}

TEST_P(GemmOnEveryInstructionSet, MultipliesBatchesAsItMultipliesOne) {
  const at::Tensor a = noise({3, 1, 33, 17}, at::kFloat, 4), b = noise({5, 17, 7}, at::kFloat, 5);
  const at::Tensor all = ops::matmul(a, b);
  ASSERT_EQ(all.sizes(), (std::vector<int64_t>{3, 5, 33, 7}));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) EXPECT_TRUE(at::equal(all[i][j], ops::matmul(a[i][0], b[j])));
}

/// An im2col matrix of lines and runs, with NaN between them.
class InLines {
 public:
  InLines(const at::Tensor& matrix, int64_t line, int64_t run) {
    const int64_t rows = matrix.size(0), columns = matrix.size(1), step = run + 3;
    const int64_t lines = (rows + line - 1) / line, runs = (columns + run - 1) / run;
    for (int64_t i = 0; i < lines; ++i) line_at_.push_back((lines - 1 - i) * line * step);
    for (int64_t i = 0; i < runs; ++i) run_at_.push_back(i * lines * line * step);
    memory_ = at::full({runs, lines, line, step}, std::numeric_limits<double>::quiet_NaN(), matrix.options());
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t r = 0; r < runs; ++r) {
        const int64_t count = std::min(run, columns - r * run);
        memory_[r][lines - 1 - row / line][row % line]
            .narrow(0, 0, count)
            .copy_(matrix[row].narrow(0, r * run, count));
      }
    matrix_ = {memory_.const_data_ptr(), line, step, line_at_.data(), run, run_at_.data(), nullptr};
  }
  InLines(const InLines&) = delete;
  InLines& operator=(const InLines&) = delete;

  const LinedMatrix& matrix() const { return matrix_; }
  void say_zero(std::vector<uint64_t> runs) {
    zero_runs_ = std::move(runs);
    matrix_.zero_runs = zero_runs_.data();
  }

 private:
  at::Tensor memory_;
  std::vector<int64_t> line_at_, run_at_;
  std::vector<uint64_t> zero_runs_;
  LinedMatrix matrix_;
};

TEST_P(GemmOnEveryInstructionSet, MultipliesWhatLiesInLinesAsWhatIsDense) {
  struct Lined {
    int64_t m, k, n, line, run;
  };
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16})
    for (const auto& [m, k, n, line, run] : {Lined{1, 1, 1, 1, 1},
                                             {3, 65, 96, 2, 13},
                                             {7, 31, 16, 7, 31},
                                             {97, 257, 49, 5, 40},
                                             {193, 600, 97, 9, 48},
                                             {196, 513, 64, 28, 27},
                                             {200, 432, 144, 14, 48},
                                             {150, 300, 48, 30, 17},
                                             {50, 288, 192, 4, 96},
                                             {200, 0, 5, 4, 16}}) {
      const at::Tensor a = noise({m, k}, type, 10), shifted = noise({k + 3, n}, type, 11),
                       b = shifted.narrow(0, 3, k), bias = noise({n}, type, 12);
      const at::Tensor wanted = at::empty({m, n}, a.options()), with_bias = wanted.clone(),
                       of_a = at::full_like(wanted, 77), of_b = at::full_like(wanted, 77);
      gemm(type, {gemm_plan(a, b, {}, wanted), gemm_plan(a, b, bias, with_bias)});
      const InLines rows(a, line, run), columns(shifted, line, run);
      gemm(type, {gemm_plan(rows.matrix(), b, bias, of_a), gemm_plan(a, columns.matrix(), 3, of_b)});
      EXPECT_TRUE(at::equal(of_a, with_bias)) << type << " " << m << " " << k << " " << n;
      EXPECT_TRUE(at::equal(of_b, wanted)) << type << " " << m << " " << k << " " << n;
    }
}

// Runs flagged as zero are never read: here they are not zero, and must be ignored all the same.
TEST_P(GemmOnEveryInstructionSet, LeavesOutRunsOfZeros) {
  const int64_t line = 7, run = 48, rows = 4 * line, depth = 12 * run;
  const at::Tensor x = noise({rows, depth}, at::kFloat, 13), zeroed = x.clone();
  // In line 2 chains end inside zero runs, with others before and after them.
  const std::vector<uint64_t> zero = {0b1, 0b111111100000, 0b110, 0b111111111111};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t r = 0; r < depth / run; ++r)
      if (zero[static_cast<size_t>(row / line)] >> r & 1) zeroed[row].narrow(0, r * run, run).zero_();
  InLines lines(x, line, run);
  lines.say_zero(zero);
  for (const int64_t n : {48, 64, 5}) {
    const at::Tensor b = noise({depth, n}, at::kFloat, 14), upstream = noise({n, rows - 2}, at::kFloat, 15);
    const at::Tensor of_a = at::full({rows, n}, 77, at::kFloat), of_b = at::full({n, depth}, 77, at::kFloat),
                     wanted_a = of_a.clone(), wanted_b = of_b.clone();
    gemm(at::kFloat, {gemm_plan(zeroed, b, {}, wanted_a),
                      gemm_plan(upstream, zeroed.narrow(0, 2, rows - 2), {}, wanted_b)});
    gemm(at::kFloat, {gemm_plan(lines.matrix(), b, {}, of_a), gemm_plan(upstream, lines.matrix(), 2, of_b)});
    EXPECT_TRUE(at::equal(of_a, wanted_a)) << n;
    EXPECT_TRUE(at::equal(of_b, wanted_b)) << n;
  }
}

TEST_P(GemmOnEveryInstructionSet, AddsToWhatIsThere) {
  const at::Tensor a = noise({700, 5}, at::kBFloat16, 6).t(), b = noise({700, 50}, at::kBFloat16, 7);
  const at::Tensor once = at::full({5, 50}, 0.5, at::kFloat), product = at::full({5, 50}, 0.5, at::kFloat);
  gemm(at::kBFloat16, {gemm_plan(a, b, {}, product)});
  GemmPlan plan = gemm_plan(a, b, {}, once);
  plan.add = true;
  gemm(at::kBFloat16, {plan});
  EXPECT_TRUE(at::equal(once, product + 0.5));
}

TEST_P(GemmOnEveryInstructionSet, TakesDenormalNumbersAsItsInstructionsDo) {
  const at::Tensor small = at::full({5, 1}, std::ldexp(1.0, -70), at::kBFloat16),
                   sums = at::full({5, 5}, 77, at::kFloat);
  gemm(at::kBFloat16, {gemm_plan(small, small.t(), {}, sums)});
  const bool flushes = GetParam() == "avx512bf16" || GetParam().starts_with("amx");
  EXPECT_TRUE(at::equal(sums, at::full_like(sums, flushes ? 0.0 : std::ldexp(1.0, -140))));
  const at::Tensor denormal = at::full({5, 1}, std::ldexp(1.0, -130), at::kBFloat16),
                   large = at::full({1, 5}, std::ldexp(1.0, 100), at::kBFloat16);
  gemm(at::kBFloat16, {gemm_plan(denormal, large, {}, sums)});
  EXPECT_TRUE(at::equal(sums, at::full_like(sums, flushes ? 0.0 : std::ldexp(1.0, -30))));
}

// Scratch is reused; stale values between the ends of operands and of tiles must have no effect.
TEST_P(GemmOnEveryInstructionSet, ForgetsEarlierProducts) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const int64_t rows : {3, 21, 200})
      for (int layout = 0; layout < 2; ++layout) {
        const at::Tensor a = laid_out(rows, 301, type, layout, 20), b = laid_out(301, 50, type, 1, 21);
        const at::Tensor wanted = at::empty({rows, 50}, a.options()), out = wanted.clone();
        gemm(type, {gemm_plan(a, b, {}, wanted)});
        const at::Tensor bad_a = at::full({rows, 511}, nan, a.options()),
                         bad_b = at::full({97, 511}, nan, a.options()).t();
        const at::Tensor bad = at::empty({rows, 97}, a.options());
        gemm(type, {gemm_plan(bad_a, bad_b, {}, bad)});
        gemm(type, {gemm_plan(a, b, {}, out)});
        ASSERT_TRUE(bad.isnan().all().item<bool>());
        EXPECT_TRUE(at::equal(out, wanted)) << type << " " << rows << " " << layout;
        EXPECT_TRUE(at::isfinite(out).all().item<bool>());
      }
}

/// A copy of x with its layout, followed by memory that must not be accessed.
class BeforeAWall {
 public:
  explicit BeforeAWall(const at::Tensor& x) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGE_SIZE)), bytes = x.storage().nbytes();
    size_ = (bytes + page - 1) / page * page + page;
    memory_ =
        static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char* begin = memory_ + size_ - page - bytes;
    std::memcpy(begin, x.storage().data(), bytes);
    mprotect(memory_ + size_ - page, page, PROT_NONE);
    tensor = at::from_blob(begin, x.sizes(), x.strides(), x.storage_offset(), nullptr, x.options());
  }
  ~BeforeAWall() { munmap(memory_, size_); }
  BeforeAWall(const BeforeAWall&) = delete;
  BeforeAWall& operator=(const BeforeAWall&) = delete;

  at::Tensor tensor;

 private:
  char* memory_;
  size_t size_;
};

TEST_P(GemmOnEveryInstructionSet, ReadsAndWritesNothingBeyondItsOperands) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const int64_t rows : {1, 3, 5, 21, 200})
      for (const int64_t depth : {31, 64, 301})
        for (const int64_t columns : {1, 17, 50})
          for (int layout = 0; layout < 4; ++layout) {
            const BeforeAWall a(laid_out(rows, depth, type, layout % 2, 22)),
                b(laid_out(depth, columns, type, layout / 2, 23)), bias(noise({columns}, type, 24)),
                out(at::full({rows, columns}, 77, type));
            gemm(type, {gemm_plan(a.tensor, b.tensor, bias.tensor, out.tensor)});
            ASSERT_TRUE(at::isfinite(out.tensor).all().item<bool>());
          }
}

// b is packed in rounds of 8 MiB. A panel of this depth is larger, and is a round of its own.
TEST_P(GemmOnEveryInstructionSet, MultipliesPanelsThatNoRoundHolds) {
  const GemmLoops<float>& gemm_loops = *loops().of<float>().gemm;
  const int64_t depth = (int64_t{8} << 20) / gemm_loops.panel_bytes(1) + 1, columns = gemm_loops.panel + 1;
  ASSERT_GT(gemm_loops.panel_bytes(depth), int64_t{8} << 20);
  const at::Tensor line = noise({depth + 193}, at::kFloat, 8),
                   other = noise({depth + columns}, at::kFloat, 9);
  const at::Tensor a = at::as_strided(line, {193, depth}, {1, 1}),
                   b = at::as_strided(other, {depth, columns}, {1, 1});
  const at::Tensor out = at::full({193, columns}, 77, at::kFloat),
                   before = at::full({193, 3}, 77, at::kFloat);
  const at::Tensor short_a = a.narrow(1, 0, 5), short_b = b.narrow(0, 0, 5).narrow(1, 0, 3);
  gemm(at::kFloat, {gemm_plan(short_a, short_b, {}, before), gemm_plan(a, b, {}, out)});
  const auto expect_element = [&](const at::Tensor& x, const at::Tensor& y, const at::Tensor& of, int64_t m,
                                  int64_t n) {
    EXPECT_EQ(of[m][n].item<float>(),
              element(values<float>(x[m]), values<float>(y.select(1, n)), fused(), false))
        << m << ", " << n;
  };
  for (const int64_t m : {0, 95, 96, 192}) {
    expect_element(short_a, short_b, before, m, 2);
    for (const int64_t n : {int64_t{0}, columns - 2, columns - 1}) expect_element(a, b, out, m, n);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, GemmOnEveryInstructionSet, testing::ValuesIn(available_isas()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace modewise::ops
