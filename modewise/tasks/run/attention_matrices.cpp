#include "modewise/tasks/run/attention_matrices.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"

namespace modewise::tasks {

int64_t cell_count(const std::vector<int64_t>& modes) {
  constexpr int64_t maximum = int64_t{1} << 20;
  int64_t cells = 1;
  for (const int64_t size : modes) {
    require(size > 0 && size <= maximum / cells, ErrorKind::usage,
            "the modes {} have more than {} tokens: the matrix is too large", fmt::join(modes, " × "),
            maximum);
    cells *= size;
  }
  return cells;
}

at::Tensor mean_attention(const AttentionMatrices& matrices, std::span<const int64_t> samples,
                          int64_t layer) {
  const at::NoGradGuard no_grad;
  const int64_t n = matrices.tokens, cells = cell_count(matrices.modes);
  // Memory of the float64 sum and of a sample's matrices: computed, transposed and converted.
  const double needed = static_cast<double>(matrices.heads) * static_cast<double>(n) *
                        static_cast<double>(n) * (2 * sizeof(double) + 3 * sizeof(float));
  require(needed <= static_cast<double>(available_memory()), ErrorKind::usage,
          "{} heads over {} tokens need {} of memory, {} are free: use smaller modes", matrices.heads, n,
          memory_text(needed), memory_text(static_cast<double>(available_memory())));
  at::Tensor sum = at::zeros({matrices.heads, cells, cells}, at::kDouble);
  const at::Tensor filled = sum.narrow(1, 0, n).narrow(2, 0, n);
  for (const int64_t sample : samples) filled.add_(matrices.of(sample, layer));
  return sum.div_(static_cast<double>(samples.size()));
}

}  // namespace modewise::tasks
