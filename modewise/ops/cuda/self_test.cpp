#include "modewise/ops/cuda/self_test.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>

#include <functional>
#include <map>

#include "modewise/ops/kernel_info.h"

namespace modewise::ops::cuda {
namespace {

using Values = std::vector<c10::IValue>;
/// A tensor of random numbers of these sizes.
using Draw = std::function<at::Tensor(at::IntArrayRef)>;

/// Arguments of each operator: heads of 64 channels, for which kernels are compiled (triton/variants.py).
const std::map<std::string, Values (*)(const Draw&)>& samples() {
  constexpr int64_t n = 19, heads = 3, d = 64;
  static const std::map<std::string, Values (*)(const Draw&)> all = {
      {"dot_product_attention",
       [](const Draw& draw) -> Values {
         const std::vector<int64_t> shape = {2, n, heads, d};
         return {draw(shape), draw(shape), draw(shape), c10::IValue(), true, 0.2};
       }},
      {"dot_product_attention_backward",
       [](const Draw& draw) -> Values {
         const std::vector<int64_t> shape = {2, n, heads, d};
         return {draw(shape), draw(shape), draw(shape), draw(shape), c10::IValue(), true, 0.2};
       }},
  };
  return all;
}

/// The tensors that the operator returns, and those of its arguments, which it may write to.
std::vector<at::Tensor> results(const std::string& op, const Values& arguments) {
  Values stack = arguments;
  c10::Dispatcher::singleton().findSchemaOrThrow(("modewise::" + op).c_str(), "").callBoxed(stack);
  std::vector<at::Tensor> out;
  for (const Values& values : {stack, arguments})
    for (const c10::IValue& value : values)
      if (value.isTensor()) out.push_back(value.toTensor());
  return out;
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

}  // namespace modewise::ops::cuda
