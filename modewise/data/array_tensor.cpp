#include "modewise/data/array_tensor.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::data {
namespace {

at::ScalarType scalar_type(io::Array::DType dtype) {
  switch (dtype) {
    case io::Array::u8:
    case io::Array::boolean:
      return at::kByte;
    case io::Array::i8:
      return at::kChar;
    case io::Array::u16:
      return at::kUInt16;
    case io::Array::i16:
      return at::kShort;
    case io::Array::u32:
      return at::kUInt32;
    case io::Array::i32:
      return at::kInt;
    case io::Array::u64:
      return at::kUInt64;
    case io::Array::i64:
      return at::kLong;
    case io::Array::f16:
      return at::kHalf;
    case io::Array::f32:
      return at::kFloat;
    case io::Array::f64:
      return at::kDouble;
  }
  fail(ErrorKind::internal, "elements of an unknown type");
}

}  // namespace

bool are_images(const io::Array& array) {
  const std::vector<int64_t>& shape = array.shape;
  return array.dtype == io::Array::u8 &&
         (shape.size() == 3 || (shape.size() == 4 && (shape[3] == 3 || shape[3] == 1)));
}

bool holds_image_arrays(const std::string& path) {
  const std::vector<std::string> names = io::npz_names(path);
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  const bool parts = has("train_images");
  return (parts || (has("images") && has("labels"))) &&
         are_images(io::npz_header(path, parts ? "train_images" : "images"));
}

at::Tensor owning_tensor(io::Array array) {
  const at::ScalarType type = scalar_type(array.dtype);
  const auto held = std::make_shared<io::Array>(std::move(array));
  return at::from_blob(
      held->bytes.data(), held->shape, [held](void*) {}, at::TensorOptions(type));
}

}  // namespace modewise::data
