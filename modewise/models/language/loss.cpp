#include "modewise/models/language/loss.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/linear.h"
#include "modewise/ops/matmul.h"

namespace modewise::models {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kChunkLogits = int64_t{1} << 23;
/// Rows of the head whose gradient one thread adds to at a time.
constexpr int64_t kHeadRows = 4096;

struct LossInput {
  at::Tensor rows, head, targets;  // [n, D], [V, D], [n]
  int64_t chunk, counted;
  at::ScalarType wide;

  int64_t size() const { return rows.size(0); }
};

LossInput loss_input(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                     int64_t chunk) {
  require(hidden.dim() >= 1 && head.dim() == 2 && head.size(1) == hidden.size(-1) &&
              targets.scalar_type() == at::kLong &&
              targets.sizes() == hidden.sizes().slice(0, static_cast<size_t>(hidden.dim()) - 1),
          ErrorKind::internal, "language_loss: hidden [..., D], head [V, D] and targets [...] int64 wanted");
  LossInput in{hidden.detach().reshape({-1, head.size(1)}).contiguous(),
               head.detach(),
               targets.reshape({-1}).contiguous(),
               chunk,
               0,
               ops::accumulate_type(hidden.scalar_type())};
  const int64_t vocabulary = head.size(0);
  if (in.chunk <= 0) in.chunk = std::max<int64_t>(16, kChunkLogits / std::max<int64_t>(vocabulary, 1));
  const auto* target = in.targets.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < in.size(); ++i) {
    require(target[i] < vocabulary, ErrorKind::data,
            "token {} is outside of the model's vocabulary of {}: text and model have different tokenizers",
            target[i], vocabulary);
    in.counted += target[i] >= 0 ? 1 : 0;
  }
  return in;
}

/// losses[i] of the rows of `logits`, wide; where `slope` is not 0, the logits become
/// slope · (softmax − one at the target).
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

/// grad_head += gradᵀ rows, in blocks of head rows, so that the products stay small beside the head.
void add_head_gradient(const at::Tensor& grad, const at::Tensor& rows, const at::Tensor& grad_head) {
  const int64_t vocabulary = grad_head.size(0);
  const at::Tensor turned = grad.t();
  for (int64_t first = 0; first < vocabulary; first += kHeadRows) {
    const int64_t count = std::min(kHeadRows, vocabulary - first);
    grad_head.narrow(0, first, count).add_(ops::matmul(turned.narrow(0, first, count), rows));
  }
}

struct LossGradients {
  at::Tensor hidden, head;  // undefined where not wanted
};

/// −log p of every token [n]; with gradients of their mean where those are defined.
at::Tensor losses_in_chunks(const LossInput& in, const LossGradients& gradients) {
  const at::NoGradGuard no_grad;
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

struct LanguageLoss : torch::autograd::Function<LanguageLoss> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& head,
                            const at::Tensor& targets, int64_t chunk) {
    const LossInput in = loss_input(hidden, head, targets, chunk);
    LossGradients gradients;
    if (hidden.requires_grad()) gradients.hidden = at::zeros(in.rows.sizes(), in.rows.options());
    if (head.requires_grad()) gradients.head = at::zeros(head.sizes(), head.options());
    const at::Tensor mean = mean_of(losses_in_chunks(in, gradients), in.counted);
    context->save_for_backward(
        {gradients.hidden.defined() ? gradients.hidden.view(hidden.sizes()) : gradients.hidden,
         gradients.head});
    return mean;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto scaled = [&](const at::Tensor& gradient) {
      return gradient.defined() ? gradient * grads[0].to(gradient.scalar_type()) : at::Tensor();
    };
    return {scaled(saved[0]), scaled(saved[1]), {}, {}};
  }
};

}  // namespace

at::Tensor language_loss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                         int64_t chunk) {
  if (at::GradMode::is_enabled() && (hidden.requires_grad() || head.requires_grad()))
    return LanguageLoss::apply(hidden, head, targets, chunk);
  const LossInput in = loss_input(hidden, head, targets, chunk);
  return mean_of(losses_in_chunks(in, {}), in.counted);
}

at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                        int64_t chunk) {
  return losses_in_chunks(loss_input(hidden, head, targets, chunk), {}).view(targets.sizes());
}

}  // namespace modewise::models
