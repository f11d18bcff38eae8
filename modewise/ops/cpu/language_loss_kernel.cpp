// Rows of a chunk's logits are independent; if gradients are needed, the gradients of the logits overwrite
// them.

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/language_loss_checks.h"

namespace modewise::ops {

namespace {

constexpr int64_t kChunkLogits = int64_t{1} << 23;
/// Rows of the head whose gradient one task accumulates.
constexpr int64_t kHeadRows = 4096;

struct LossInput {
  at::Tensor rows, head, targets;  // [n, D], [V, D], [n]
  int64_t chunk, counted;
  at::ScalarType wide;

  int64_t size() const { return rows.size(0); }
};

LossInput loss_input(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                     int64_t chunk) {
  LossInput in{hidden.reshape({-1, head.size(1)}).contiguous(),
               head,
               targets.reshape({-1}).contiguous(),
               chunk,
               0,
               accumulate_type(hidden.scalar_type())};
  const int64_t vocabulary = head.size(0);
  if (in.chunk == 0) in.chunk = std::max<int64_t>(16, kChunkLogits / std::max<int64_t>(vocabulary, 1));
  const auto* target = in.targets.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < targets.numel(); ++i) {
    TORCH_CHECK_INDEX(target[i] < vocabulary, "language_loss: targets must be below the vocabulary size ",
                      vocabulary, ", got ", target[i]);
    in.counted += target[i] >= 0 ? 1 : 0;
  }
  return in;
}

/// losses[i] of the rows of `logits`, in the accumulate type; if `slope` is not 0, the logits become slope ·
/// (softmax − one at the target).
template <class T>
void losses_of_rows(T* logits, const int64_t* targets, T* losses, int64_t rows, int64_t vocabulary,
                    double slope) {
  at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* x = logits + row * vocabulary;
      const int64_t target = targets[row];
      if (target < 0) {
        losses[row] = 0;
        if (slope != 0) std::fill(x, x + vocabulary, T{0});
        continue;
      }
      const T largest = *std::max_element(x, x + vocabulary);
      const T wanted = x[target];
      double sum = 0;
      for (int64_t c = 0; c < vocabulary; ++c) {
        const T e = std::exp(x[c] - largest);
        sum += static_cast<double>(e);
        if (slope != 0) x[c] = e;
      }
      losses[row] =
          static_cast<T>(std::log(sum) + static_cast<double>(largest) - static_cast<double>(wanted));
      if (slope == 0) continue;
      const auto scale = static_cast<T>(slope / sum);
      for (int64_t c = 0; c < vocabulary; ++c) x[c] *= scale;
      x[target] -= static_cast<T>(slope);
    }
  });
}

/// grad_head += gradᵀ rows, in blocks of head rows, so that temporaries are small compared with the head.
void add_head_gradient(const at::Tensor& grad, const at::Tensor& rows, const at::Tensor& grad_head) {
  const int64_t vocabulary = grad_head.size(0);
  const at::Tensor transposed = grad.t();
  for (int64_t first = 0; first < vocabulary; first += kHeadRows) {
    const int64_t count = std::min(kHeadRows, vocabulary - first);
    grad_head.narrow(0, first, count).add_(ops::matmul(transposed.narrow(0, first, count), rows));
  }
}

struct LossGradients {
  at::Tensor hidden, head;  // undefined if not needed
};

/// −log p of every token [n]; adds gradients of their mean where those are defined.
at::Tensor losses_in_chunks(const LossInput& in, const LossGradients& gradients) {
  const int64_t vocabulary = in.head.size(0);
  const bool wanted = (gradients.hidden.defined() || gradients.head.defined()) && in.counted > 0;
  const double slope = wanted ? 1.0 / static_cast<double>(in.counted) : 0;
  const at::Tensor losses = at::empty({in.size()}, in.rows.options().dtype(in.wide));
  const at::Tensor head = in.head.to(in.rows.scalar_type());
  for (int64_t first = 0; first < in.size(); first += in.chunk) {
    const int64_t count = std::min(in.chunk, in.size() - first);
    const at::Tensor rows = in.rows.narrow(0, first, count);
    at::Tensor logits = ops::linear(rows, head).to(in.wide);
    AT_DISPATCH_FLOATING_TYPES(in.wide, "language_loss", [&] {
      losses_of_rows<scalar_t>(logits.mutable_data_ptr<scalar_t>(),
                               in.targets.const_data_ptr<int64_t>() + first,
                               losses.mutable_data_ptr<scalar_t>() + first, count, vocabulary, slope);
    });
    if (!wanted) continue;
    logits = logits.to(in.rows.scalar_type());
    if (gradients.hidden.defined())
      gradients.hidden.narrow(0, first, count).copy_(ops::linear(logits, head.t()));
    if (gradients.head.defined()) add_head_gradient(logits, rows, gradients.head);
  }
  return losses;
}

at::Tensor mean_of(const at::Tensor& losses, int64_t counted) {
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES(losses.scalar_type(), "language_loss", [&] {
    const auto* value = losses.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i < losses.numel(); ++i) sum += static_cast<double>(value[i]);
  });
  return at::scalar_tensor(counted > 0 ? sum / static_cast<double>(counted) : 0.0, losses.options());
}

using LossTriple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

at::Tensor not_wanted(const at::Tensor& like) {
  return at::empty({0}, like.options());
}

LossTriple loss_chunked(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                        int64_t chunk, bool hidden_wanted, bool head_wanted) {
  const LossInput in = loss_input(hidden, head, targets, chunk);
  LossGradients gradients;
  if (hidden_wanted) gradients.hidden = at::zeros(in.rows.sizes(), in.rows.options());
  if (head_wanted) gradients.head = at::zeros(head.sizes(), head.options());
  const at::Tensor mean = mean_of(losses_in_chunks(in, gradients), in.counted);
  return {mean, hidden_wanted ? gradients.hidden.view(hidden.sizes()) : not_wanted(hidden),
          head_wanted ? gradients.head : not_wanted(head)};
}

LossTriple loss_reference(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                          int64_t, bool hidden_wanted, bool head_wanted) {
  return reference::language_loss(hidden, head, targets, hidden_wanted, head_wanted);
}

const KernelList<LossTriple(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, bool, bool)>
    language_loss_kernels("language_loss",
                          {{"chunks", decltype(language_loss_kernels)::takes_all, loss_chunked},
                           {"reference", decltype(language_loss_kernels)::takes_all, loss_reference}});

LossTriple language_loss_gradients_checked(const at::Tensor& hidden, const at::Tensor& head,
                                           const at::Tensor& targets, int64_t chunk, bool hidden_wanted,
                                           bool head_wanted) {
  check_language_loss_args("language_loss", hidden, head, targets, chunk);
  return language_loss_kernels.run(hidden.device(), hidden, head, targets, chunk, hidden_wanted, head_wanted);
}

at::Tensor token_losses_chunked(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                int64_t chunk) {
  return losses_in_chunks(loss_input(hidden, head, targets, chunk), {}).view(targets.sizes());
}

at::Tensor token_losses_reference(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                  int64_t) {
  return reference::token_losses(hidden, head, targets);
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t)>
    token_losses_kernels("token_losses",
                         {{"chunks", decltype(token_losses_kernels)::takes_all, token_losses_chunked},
                          {"reference", decltype(token_losses_kernels)::takes_all, token_losses_reference}});

at::Tensor token_losses_checked(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                int64_t chunk) {
  check_language_loss_args("token_losses", hidden, head, targets, chunk);
  return token_losses_kernels.run(hidden.device(), hidden, head, targets, chunk);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("language_loss_gradients", language_loss_gradients_checked);
  m.impl("token_losses", token_losses_checked);
}

}  // namespace modewise::ops
