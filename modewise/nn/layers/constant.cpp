#include "modewise/nn/layers/constant.h"

namespace modewise::nn {

void Constant::to(at::Device device, at::ScalarType, bool non_blocking) {
  to(device, non_blocking);
}

void Constant::to(at::ScalarType, bool) {}

void Constant::to(at::Device device, bool non_blocking) {
  value_ = value_.to(device, non_blocking);
}

}  // namespace modewise::nn
