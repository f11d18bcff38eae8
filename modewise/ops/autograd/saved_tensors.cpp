#include "modewise/ops/autograd/saved_tensors.h"

#include <unordered_map>

#include "modewise/ops/training/recompute_mode.h"

namespace modewise::ops {

namespace {

std::unordered_map<std::type_index, Maker>& makers() {
  static std::unordered_map<std::type_index, Maker> table;
  return table;
}

struct MadeBy : torch::CustomClassHolder {
  MadeBy(c10::intrusive_ptr<torch::autograd::Node> from, const Maker& how, int count)
      : node(std::move(from)), maker(how), products(count) {}

  c10::intrusive_ptr<torch::autograd::Node> node;
  Maker maker;
  int products;
};

c10::intrusive_ptr<MadeBy> maker_of(const at::Tensor& x) {
  if (!recompute_mode() || !x.defined() || !x.grad_fn()) return {};
  const auto& node = x.grad_fn();
  const auto found = makers().find(typeid(*node));
  if (found == makers().end()) return {};
  const Maker& maker = found->second;
  const auto products = maker.products(maker.context(*node), x.output_nr());
  if (!products || *products > 1) return {};
  return c10::make_intrusive<MadeBy>(node, maker, *products);
}

const MadeBy* remembered(const AutogradContext& context, const char* name) {
  const auto found = context.saved_data.find(name);
  return found == context.saved_data.end() ? nullptr
                                           : static_cast<const MadeBy*>(found->second.toCapsule().get());
}

}  // namespace

void register_maker(std::type_index node, Maker maker) {
  makers().emplace(node, maker);
}

at::Tensor keep(AutogradContext& context, const char* name, const at::Tensor& x) {
  auto maker = maker_of(x);
  if (!maker) return x;
  context.saved_data[name] = at::IValue::make_capsule(std::move(maker));
  return {};
}

at::Tensor kept(AutogradContext& context, const char* name, const at::Tensor& saved) {
  const MadeBy* by = remembered(context, name);
  return by == nullptr ? saved : by->maker.make(by->maker.context(*by->node));
}

int products_of(const AutogradContext& context, const char* name) {
  const MadeBy* by = remembered(context, name);
  return by == nullptr ? 0 : by->products;
}

bool has_maker(const AutogradContext& context, const char* name) {
  return remembered(context, name) != nullptr;
}

}  // namespace modewise::ops
