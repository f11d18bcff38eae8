#include "modewise/ops/attention/attention_types.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string>

#include "modewise/core/aliases.h"
#include "modewise/ops/attention/attention_type_parts.h"

namespace modewise::ops {

std::span<const AttentionType> attention_types() {
  static const AttentionType forms[] = {
      {.name = "full",
       .run = attend_tokens,
       .memory = keep_tokens,
       .cache = tokens_cache,
       .pairs = token_pairs},
      {.name = "window",
       .window = true,
       .run = attend_near,
       .memory = make_summary_memory,
       .cache = summary_cache,
       .pairs = near_pairs},
      {.name = "lambda",
       .window = true,
       .sinks = true,
       .run = attend_summaries,
       .memory = make_summary_memory,
       .cache = summary_cache,
       .pairs = near_pairs},
      {.name = "axial",
       .fold = true,
       .run = attend_fibres,
       .memory = keep_stages,
       .cache = stages_cache,
       .pairs = fibre_pairs},
      {.name = "pooled", .fold = true, .run = attend_shared, .pairs = fibre_pairs},
      {.name = "summary",
       .fold = true,
       .window = true,
       .latents = true,
       .run = attend_summaries,
       .memory = make_summary_memory,
       .cache = summary_cache,
       .pairs = summary_pairs},
      {.name = "random",
       .density = true,
       .run = attend_sparse,
       .memory = keep_tokens,
       .cache = tokens_cache,
       .pairs = matrix_pairs},
      {.name = "topk",
       .density = true,
       .run = attend_sparse,
       .memory = keep_tokens,
       .cache = tokens_cache,
       .pairs = matrix_pairs},
  };
  return forms;
}

const AttentionType* find_attention_type(std::string_view name) {
  const auto forms = attention_types();
  const auto found = std::find_if(
      forms.begin(), forms.end(),
      [name = current_attention(std::string(name))](const auto& type) { return type.name == name; });
  return found == forms.end() ? nullptr : &*found;
}

const AttentionType& attention_type(std::string_view name) {
  if (const AttentionType* type = find_attention_type(name)) return *type;
  const auto forms = attention_types();
  std::string names;
  for (const AttentionType& type : forms)
    names += (&type == &forms.front() ? "" : &type == &forms.back() ? " or " : ", ") + std::string(type.name);
  TORCH_CHECK_VALUE(false, "tensor_attention: form must be ", names, ", got ", std::string(name));
}

int64_t latent_levels(const TensorAttentionOptions& options) {
  const auto modes = static_cast<int64_t>(options.fold.size());
  return attention_type(options.type).latents && modes > 1 ? modes - 1 : 0;
}

double compared_pairs(const TensorAttentionOptions& options, int64_t summary_tokens, int64_t n) {
  return attention_type(options.type).pairs(options, summary_tokens, n);
}

}  // namespace modewise::ops
