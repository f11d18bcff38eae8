#include "tests/device_watch.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/stack.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>
#include <torch/library.h>

#include <algorithm>
#include <stdexcept>

namespace modewise {
namespace {

// Dispatch key of libtorch's own tests of modes, before all others: it sees calls of autograd and composite
// operators, and the calls that they make.
constexpr auto kWatchKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

thread_local DeviceWatch* watch = nullptr;

void look(const std::string& call, bool gives, const c10::IValue& value) {
  if (value.isTensor()) {
    watch->saw(call, gives, value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) watch->saw(call, gives, tensor);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) look(call, gives, item);
  }
}

void watch_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::DispatchKeySet below(c10::DispatchKeySet::FULL_AFTER, kWatchKey);
  if (watch == nullptr) return op.redispatchBoxed(keys & below, stack);
  const std::string name = op.schema().name();
  watch->count_call();
  for (const c10::IValue& value : torch::jit::last(*stack, op.schema().arguments().size()))
    look(name, false, value);
  op.redispatchBoxed(keys & below, stack);
  for (const c10::IValue& value : torch::jit::last(*stack, op.schema().returns().size()))
    look(name, true, value);
}

at::Tensor zeros_on_cpu(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_meta() ? at::zeros(tensor.sizes(), tensor.options().device(at::kCPU))
                                              : tensor;
}

c10::IValue on_cpu(const c10::IValue& value) {
  if (value.isTensor()) return zeros_on_cpu(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> list;
  for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(zeros_on_cpu(tensor));
  return list;
}

/// Meta kernel for an operator that has one in Python only: computes the sizes by running it on CPU zeros.
void sizes_from_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard unwatched(kWatchKey);
  const at::AutoDispatchBelowADInplaceOrView below;
  const std::vector<c10::IValue> given = torch::jit::last(*stack, op.schema().arguments().size()).vec();
  torch::jit::drop(*stack, given.size());
  torch::jit::Stack values;
  for (const c10::IValue& value : given) values.push_back(on_cpu(value));
  const torch::jit::Stack arguments = values;
  op.callBoxed(&values);
  for (const c10::IValue& result : values) {
    if (!result.isTensor()) throw std::logic_error("no sizes of the results of " + op.schema().name());
    const at::Tensor& tensor = result.toTensor();
    at::Tensor out;
    for (size_t i = 0; i < given.size(); ++i)  // results in place are the arguments
      if (arguments[i].isTensor() && arguments[i].toTensor().is_same(tensor)) out = given[i].toTensor();
    if (!out.defined()) out = tensor.to(at::kMeta);
    if (out.sizes() != tensor.sizes()) out.resize_(tensor.sizes());
    stack->emplace_back(std::move(out));
  }
}

/// Registers Meta kernels for the operators of libtorch that have them in Python only. Operators whose result
/// depends on values get none: every device must wait for the values.
void add_meta_kernels() {
  static std::vector<c10::RegistrationHandleRAII> kept;
  if (!kept.empty()) return;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!name.name.starts_with("aten::") || !op || !op->hasSchema()) continue;
    const auto has = [&](c10::DispatchKey key) { return op->hasKernelForDispatchKey(key); };
    if (!has(c10::DispatchKey::CPU) || has(c10::DispatchKey::Meta) ||
        has(c10::DispatchKey::CompositeExplicitAutograd) ||
        has(c10::DispatchKey::CompositeImplicitAutograd) ||
        has(c10::DispatchKey::CompositeExplicitAutogradNonFunctional) ||
        op->hasTag(at::Tag::data_dependent_output) || op->hasTag(at::Tag::dynamic_output_shape))
      continue;
    kept.push_back(dispatcher.registerImpl(name, c10::DispatchKey::Meta,
                                           c10::KernelFunction::makeFromBoxedFunction<&sizes_from_cpu>(),
                                           std::nullopt, nullptr, "device_watch.cpp"));
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&watch_call>());
}

DeviceWatch::DeviceWatch(at::Device device) : device_(device), included_(kWatchKey) {
  add_meta_kernels();
  if (watch != nullptr) throw std::logic_error("one DeviceWatch at a time");
  watch = this;
}

DeviceWatch::~DeviceWatch() {
  watch = nullptr;
}

void DeviceWatch::saw(const std::string& call, bool gives, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() == device_.type()) return;
  if (tensor.device().is_cpu() && tensor.dim() == 0) return;
  std::string fault = fmt::format("{} {} a tensor [{}] on {}", call, gives ? "gives" : "takes",
                                  fmt::join(tensor.sizes(), ", "), tensor.device().str());
  if (std::find(faults_.begin(), faults_.end(), fault) == faults_.end()) faults_.push_back(std::move(fault));
}

}  // namespace modewise
