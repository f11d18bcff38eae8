// Operators that write in place raise the versions of the tensors that they write, as torch's own do.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "modewise/ops/attention/attention_cache.h"
#include "modewise/ops/attention/summary_step.h"
#include "modewise/ops/normalization/masked_moments.h"
#include "modewise/ops/training/adam_step.h"
#include "tests/error_of.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The sum of a tensor's squares, whose gradient needs the values of before.
at::Tensor squares(const at::Tensor& x) {
  return (x * x).sum();
}

std::vector<uint32_t> versions(const std::vector<at::Tensor>& tensors) {
  std::vector<uint32_t> out;
  for (const at::Tensor& tensor : tensors) out.push_back(static_cast<uint32_t>(tensor._version()));
  return out;
}

/// The versions of the tensors by which `action` raises them.
std::vector<uint32_t> raised(const std::vector<at::Tensor>& tensors, const std::function<void()>& action) {
  const std::vector<uint32_t> before = versions(tensors);
  action();
  std::vector<uint32_t> after = versions(tensors);
  for (size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
  return after;
}

/// The error of the backward pass of `loss`.
std::string said(const at::Tensor& loss) {
  return exception_of<c10::Error>([&] { loss.backward(); });
}

TEST(WrittenTensors, AreThoseOfTheseOperators) {
  std::vector<std::string> names;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("modewise::")) continue;
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (op && op->schema().is_mutable()) names.push_back(name.name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("modewise::adam_step", "modewise::update_moments",
                                                   "modewise::summary_step", "modewise::summary_join"));
}

TEST(WrittenTensors, OfAdamStepAreFoundByABackward) {
  const at::Tensor parameter = at::ones({3}).requires_grad_(), first = at::zeros({3}),
                   second = at::zeros({3}), gradient = at::ones({3});
  const at::Tensor loss = squares(parameter);
  EXPECT_THAT(raised({parameter, first, second, gradient},
                     [&] {
                       const at::NoGradGuard no_grad;
                       adam_step(parameter, gradient, first, second, {.step_size = 0.1});
                     }),
              ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(said(loss), HasSubstr("modified by an inplace operation"));
}

TEST(WrittenTensors, OfUpdateMomentsAreFoundByABackward) {
  const at::Tensor mean = at::zeros({3}), var = at::ones({3}), weight = at::ones({3}).requires_grad_();
  const at::Tensor loss = (weight * var).sum();
  const at::Tensor other = at::ones({3});
  const at::Tensor count = at::ones({}, at::kDouble);
  EXPECT_THAT(raised({mean, var, other, count}, [&] { update_moments(mean, var, other, other, count, 0.5); }),
              ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(said(loss), HasSubstr("modified by an inplace operation"));
}

TEST(WrittenTensors, OfSummariesAreCounted) {
  const at::Tensor rows = random_tensor({1, 2, 1, 4}), ring = random_tensor({1, 3, 1, 4}, at::kDouble, 2),
                   none = random_tensor({1, 0, 1, 4});
  const PartialBlocks open = {at::zeros({1, 1, 4}, at::kDouble), at::zeros({1, 1, 1, 1}, at::kDouble),
                              at::zeros({1, 1, 1, 1}, at::kDouble), at::zeros({1, 1, 1, 4}, at::kDouble),
                              at::zeros({1, 1, 1, 4}, at::kDouble)};
  const std::vector<at::Tensor> tensors = {open.high, open.total, open.keys, open.values, open.latents, rows};
  EXPECT_THAT(raised(tensors, [&] { summary_join({rows, rows}, open); }), ElementsAre(1, 1, 1, 1, 0, 0));
  const at::Tensor keys = ring.clone(), values = ring.clone();
  EXPECT_THAT(raised({keys, values, open.high, open.values, rows},
                     [&] {
                       summary_step(rows, rows, rows, rows, {keys, values}, {none, none}, {}, open, {},
                                    {.first = 1, .window = 3, .scale = 1, .attends = true});
                     }),
              ElementsAre(1, 1, 1, 1, 0));
}

// Tensors of the inference mode have no version.
TEST(WrittenTensors, OfTheInferenceModeAreWrittenOutsideToo) {
  const at::Tensor x = random_tensor({1, 3, 1, 4});
  AttentionCache cache({.type = "window", .window = 2});
  {
    const c10::InferenceMode inference;
    cache.step(x, x, x);
  }
  EXPECT_EQ(cache.length(), 3);
}

}  // namespace
}  // namespace modewise::ops
