#include "modewise/ops/cuda/self_test.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <functional>
#include <map>

#include "modewise/ops/kernel_info.h"

namespace modewise::ops::cuda {
namespace {

using Values = std::vector<c10::IValue>;
/// A tensor of random numbers of these sizes.
using Draw = std::function<at::Tensor(at::IntArrayRef)>;

/// The tensors that the operator returns, and those of its arguments, which it may write to.
std::vector<at::Tensor> results(const std::string& op, const Values& arguments) {
  Values stack = arguments;
  c10::Dispatcher::singleton().findSchemaOrThrow(("modewise::" + op).c_str(), "").callBoxed(stack);
  std::vector<at::Tensor> out;
  for (const Values& values : {stack, arguments})
    for (const c10::IValue& value : values) {
      if (value.isTensor()) out.push_back(value.toTensor());
      if (value.isTensorList())
        for (const at::Tensor& x : value.toTensorVector()) out.push_back(x);
    }
  return out;
}

/// Arguments of summary_attention: complete blocks of 4 and of 12 tokens.
Values summary_sample(const Draw& draw) {
  const auto x = draw({3, 2, 41, 3, 64});
  const auto frequencies = draw({3, 32}).to(at::kDouble);
  return {x[0], x[1], x[2], draw({2, 3, 2, 64}),  frequencies, {}, std::vector<int64_t>{5, 3, 4},
          7,    0,    0.2,  std::vector<double>{}};
}

/// Latents, maximum, total and sums of a partial block with one summary token.
std::vector<at::Tensor> block_sample(const Draw& draw) {
  std::vector<at::Tensor> out;
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {3, 1, 64}, {2, 3, 1, 1}, {2, 3, 1, 1}, {2, 3, 1, 64}, {2, 3, 1, 64}})
    out.push_back(draw(shape).to(at::kFloat));
  out[2].abs_();
  return out;
}

/// Arguments of each operator: heads of 64 channels, for which kernels are compiled (triton/variants.py).
const std::map<std::string, Values (*)(const Draw&)>& samples() {
  static constexpr int64_t n = 19, heads = 3, d = 64;
  static const std::map<std::string, Values (*)(const Draw&)> all = {
      {"dot_product_attention",
       [](const Draw& draw) -> Values {
         const auto x = draw({4, 2, n, heads, d});
         return {x[0], x[1], x[2], {}, true, 0.2};
       }},
      {"dot_product_attention_backward",
       [](const Draw& draw) -> Values {
         const auto x = draw({4, 2, n, heads, d});
         return {x[0], x[1], x[2], x[3], {}, true, 0.2};
       }},
      {"mode_contract",
       [](const Draw& draw) -> Values {
         const auto x = draw({2, 2, 5, n, 3, heads * d});
         return {x[0], x[1], 1, heads};
       }},
      {"mode_pool",
       [](const Draw& draw) -> Values {
         return {draw({2, 5, n, n, heads * d}), "mean", {}};
       }},
      {"mode_pool_backward",
       [](const Draw& draw) -> Values {
         const std::vector<at::Tensor> grads = {draw({2, 5, heads * d}), draw({2, n, heads * d})};
         return {grads, std::vector<int64_t>{2, 5, n, heads * d}, "mean", {}};
       }},
      {"mode_product",
       [](const Draw& draw) -> Values {
         return {draw({2, 5, n, 3, heads * d}), draw({2, heads, n, n}), 1};
       }},
      {"mode_scores",
       [](const Draw& draw) -> Values {
         const auto x = draw({2, 2, n, heads * d});
         return {x[0], x[1], heads, {}, {}};
       }},
      {"mode_scores_backward",
       [](const Draw& draw) -> Values {
         const auto x = draw({2, 2, n, heads * d});
         return {draw({2, heads, n, n}), at::softmax(draw({2, heads, n, n}), -1), x[0], x[1], heads};
       }},
      {"summary_attention", [](const Draw& draw) { return summary_sample(draw); }},
      {"summary_attention_backward",
       [](const Draw& draw) {
         Values out = summary_sample(draw);
         const auto forward = results("summary_attention", out);
         out.insert(out.begin() + 4, {forward[0], forward[1]});
         out.insert(out.begin(), draw({2, 41, 3, 64}));
         return out;
       }},
      {"summary_join",
       [](const Draw& draw) {
         Values out = {draw({2, 19, 3, 64}), draw({2, 19, 3, 64})};
         for (const at::Tensor& x : block_sample(draw)) out.emplace_back(x);
         return out;
       }},
      {"summary_step",
       [](const Draw& draw) {
         const auto x = draw({4, 2, 1, 3, 64}), rows = draw({4, 2, 9, 3, 64});
         const std::vector<at::Tensor> keys = {rows[2], rows[3]};
         Values out = {
             x[0], x[1], x[2], x[3], rows[0], rows[1], rows[0].narrow(1, 0, 0), rows[1].narrow(1, 0, 0)};
         out.insert(out.end(), {keys, keys, std::vector<int64_t>{1, 2}, std::vector<double>{0, 0.3}});
         for (const at::Tensor& state : block_sample(draw)) out.emplace_back(state);
         out.insert(out.end(), {draw({3, 32}).to(at::kDouble), std::vector<double>{}, 16, 9, 0.2, true});
         return out;
       }},
  };
  return all;
}

std::string difference(const std::string& op, at::ScalarType type, at::Device device) {
  const auto sample = [&] {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
    return samples().at(op)([&](at::IntArrayRef sizes) {
      return at::randn(sizes, generator, at::TensorOptions(at::kFloat)).to(type).to(device);
    });
  };
  const auto got = results(op, sample());
  use_reference(true);
  const auto wanted = results(op, sample());
  for (size_t i = 0; i < got.size(); ++i) {
    const auto x = got[i].to(at::kFloat), y = wanted[i].to(at::kFloat);
    const double norm = y.norm().item().toDouble(), apart = (x - y).norm().item().toDouble();
    if (!(apart <= (type == at::kFloat ? 1e-4 : 2e-2) * norm))
      return fmt::format("they differ from the reference by {:.1e} of its norm in {}", apart / norm,
                         c10::toString(type));
  }
  return "";
}

}  // namespace

std::string kernels_fault(const std::string& op, at::Device device) {
  const at::NoGradGuard no_grad;
  if (!samples().contains(op)) return "there is no sample to check them with";
  std::string fault;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    try {
      fault = difference(op, type, device);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    use_reference(false);
    if (!fault.empty()) break;
  }
  return fault;
}

// For tests.
TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("kernels_fault(str op, str device) -> str", [](const std::string& op, const std::string& device) {
    return kernels_fault(op, at::Device(device));
  });
}

}  // namespace modewise::ops::cuda
