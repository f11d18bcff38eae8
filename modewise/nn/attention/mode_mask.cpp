#include "modewise/nn/attention/mode_mask.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <c10/util/Exception.h>

#include <charconv>

namespace modewise::nn {
namespace {

constexpr std::string_view kBand = "band:";

/// W of band:W; none for other names.
std::optional<int64_t> band_of(std::string_view name) {
  if (!name.starts_with(kBand)) return std::nullopt;
  name.remove_prefix(kBand.size());
  int64_t width = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), width);
  if (error != std::errc() || end != name.data() + name.size() || width < 0) return std::nullopt;
  return width;
}

}  // namespace

std::string mode_mask_fault(const std::string& name) {
  if (name == "none" || name == "causal" || band_of(name)) return "";
  return "expected none, causal or band:W (positions at most W apart), got \"" + name + "\"";
}

std::optional<at::Tensor> mode_mask(const std::string& name, int64_t size, at::Device device) {
  const std::string fault = mode_mask_fault(name);
  TORCH_CHECK_VALUE(fault.empty(), "mode mask: ", fault);
  if (name == "none") return std::nullopt;
  const auto places = at::arange(size, at::TensorOptions(device).dtype(at::kLong));
  const auto distance = places.unsqueeze(1) - places;  // of the attending position i to j: i − j
  return name == "causal" ? distance.ge(0) : distance.abs().le(*band_of(name));
}

}  // namespace modewise::nn
