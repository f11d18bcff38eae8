#include "modewise/train/checkpoint/tensor_file.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <set>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

struct TypeName {
  at::ScalarType type;
  std::string_view name;
};
constexpr std::array<TypeName, 10> kTypes = {{{at::kFloat, "F32"},
                                              {at::kDouble, "F64"},
                                              {at::kBFloat16, "BF16"},
                                              {at::kHalf, "F16"},
                                              {at::kLong, "I64"},
                                              {at::kInt, "I32"},
                                              {at::kShort, "I16"},
                                              {at::kChar, "I8"},
                                              {at::kByte, "U8"},
                                              {at::kBool, "BOOL"}}};

std::string type_name(at::ScalarType type) {
  for (const TypeName& entry : kTypes)
    if (entry.type == type) return std::string(entry.name);
  fail(ErrorKind::internal, "tensors of type {} cannot be saved", c10::toString(type));
}

/// Adds tensors not seen before: modules registered twice and tied weights are listed once.
template <class Dict>
void add_once(const Dict& named, std::vector<NamedTensor>& list, std::set<const void*>& seen) {
  for (const auto& item : named)
    if (item.value().defined() && seen.insert(item.value().unsafeGetTensorImpl()).second)
      list.push_back({item.key(), item.value()});
}

}  // namespace

std::vector<NamedTensor> module_tensors(const torch::nn::Module& module) {
  std::vector<NamedTensor> list;
  std::set<const void*> seen;
  add_once(module.named_parameters(), list, seen);
  add_once(module.named_buffers(), list, seen);
  return list;
}

std::vector<NamedTensor> trainable_parameters(const torch::nn::Module& module) {
  std::vector<NamedTensor> all, trainable;
  std::set<const void*> seen;
  add_once(module.named_parameters(), all, seen);
  for (NamedTensor& parameter : all)
    if (parameter.tensor.requires_grad()) trainable.push_back(std::move(parameter));
  return trainable;
}

io::SafetensorsWriter writer_of(std::span<const NamedTensor> tensors) {
  std::vector<io::TensorSource> sources;
  for (const NamedTensor& entry : tensors)
    sources.push_back({entry.name, type_name(entry.tensor.scalar_type()), entry.tensor.sizes().vec(),
                       [tensor = entry.tensor.detach()](const ByteSink& sink) {
                         const at::Tensor ready = tensor.cpu().contiguous();  // copies only if needed
                         sink({static_cast<const std::byte*>(ready.const_data_ptr()), ready.nbytes()});
                       }});
  return io::SafetensorsWriter(std::move(sources));
}

void load_tensors(const std::filesystem::path& path, std::span<const NamedTensor> into) {
  const at::NoGradGuard no_grad;
  const io::SafetensorsFile file(path);
  std::vector<io::TensorView> views;
  for (const NamedTensor& entry : into) {
    const auto view = file.find(entry.name);
    require(view.has_value(), ErrorKind::data, "{} has no tensor '{}': it belongs to another model",
            path.string(), entry.name);
    require(view->dtype == type_name(entry.tensor.scalar_type()) && view->shape == entry.tensor.sizes().vec(),
            ErrorKind::data, "{}: tensor '{}' is {} [{}], the model expects {} [{}]", path.string(),
            entry.name, view->dtype, fmt::join(view->shape, ", "), type_name(entry.tensor.scalar_type()),
            fmt::join(entry.tensor.sizes(), ", "));
    views.push_back(*view);
  }
  require(file.size() == into.size(), ErrorKind::data,
          "{} has {} tensors, the model has {}: it belongs to another model", path.string(), file.size(),
          into.size());
  for (size_t i = 0; i < into.size(); ++i) {
    const at::Tensor& tensor = into[i].tensor;
    require(tensor.is_contiguous(), ErrorKind::internal, "tensor '{}' must be contiguous to be loaded",
            into[i].name);
    const bool here = tensor.device().is_cpu();
    const at::Tensor read = here ? tensor : at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
    if (!views[i].bytes.empty())
      std::memcpy(read.mutable_data_ptr(), views[i].bytes.data(), views[i].bytes.size());
    if (!here)
      tensor.copy_(read);
    else if (!tensor.is_inference())
      tensor.unsafeGetTensorImpl()->bump_version();
  }
}

std::vector<NamedTensor> copies_of(std::span<const NamedTensor> tensors) {
  std::vector<NamedTensor> copies;
  for (const NamedTensor& entry : tensors) copies.push_back({entry.name, entry.tensor.detach().clone()});
  return copies;
}

void copy_into(std::span<const NamedTensor> into, std::span<const NamedTensor> from) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < into.size(); ++i) into[i].tensor.copy_(from[i].tensor);
}

}  // namespace modewise::train
