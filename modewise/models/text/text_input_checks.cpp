#include "modewise/models/text/text_input_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/nonzero.h>

#include "modewise/core/error.h"

namespace modewise::models {
namespace {

void check_numbers(const at::Tensor& numbers, int64_t count, const char* what, const char* table) {
  const at::Tensor outside = numbers.lt(0).logical_or(numbers.ge(count));
  if (!outside.any().item<bool>()) return;
  const at::Tensor first = at::nonzero(outside).select(0, 0).cpu();
  const int64_t text = first[0].item<int64_t>(), place = first[1].item<int64_t>();
  fail(ErrorKind::data, "text {} of the batch, token {}: {} {} is not among the {} of the model's {}", text,
       place, what, numbers[text][place].item<int64_t>(), count, table);
}

}  // namespace

void check_text_input(const TextInput& input, const TextModelConfig& config) {
  require(input.ids.dim() == 2 && input.ids.scalar_type() == at::kLong && input.ids.size(1) > 0,
          ErrorKind::internal, "tokens must be [B, n] int64, n at least 1");
  require(!input.types.defined() || input.types.sizes() == input.ids.sizes(), ErrorKind::internal,
          "token types must be [B, n], as the tokens");
  require(!input.mask || input.mask->sizes() == input.ids.sizes(), ErrorKind::internal,
          "the padding mask must be [B, n], as the tokens");
  if (input.ids.is_meta()) return;  // shapes without values
  check_numbers(input.ids, config.vocabulary, "token", "vocabulary");
  if (input.types.defined()) check_numbers(input.types, config.types, "type", "token types");
  if (!input.mask) return;
  const at::Tensor empty = input.mask->any(1).logical_not();
  if (empty.any().item<bool>())
    fail(ErrorKind::data, "text {} of the batch has no tokens: its padding mask excludes all of them",
         at::nonzero(empty)[0][0].item<int64_t>());
}

void check_first_tokens(const at::Tensor& mask) {
  if (mask.is_meta()) return;
  const at::Tensor late = mask.select(1, 0).logical_not().logical_and(mask.any(1));
  if (late.any().item<bool>())
    fail(ErrorKind::data,
         "text {} of the batch starts with padding, but the classifier reads its first token",
         at::nonzero(late)[0][0].item<int64_t>());
}

void check_places(const at::Tensor& places, const TextModelConfig& config) {
  if (places.is_meta()) return;
  const int64_t greatest = places.max().item<int64_t>(), rows = config.position_rows();
  require(greatest < rows, ErrorKind::data,
          "a text of {} tokens is longer than the model's {} position embeddings",
          greatest + 1 - (rows - config.positions), config.positions);
}

}  // namespace modewise::models
