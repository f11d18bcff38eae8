#include "modewise/models/sequence_attention_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {
namespace {

/// A fold into `order` equal modes for `tokens` tokens, the first one growing. Order 1: blocks of twice the
/// square root of the length, as many attention weights as two modes of the square root.
std::vector<int64_t> equal_fold(int64_t order, int64_t tokens) {
  const auto n = static_cast<double>(std::max<int64_t>(tokens, 1));
  if (order == 1) return {0, 2 * static_cast<int64_t>(std::ceil(std::sqrt(n)))};
  auto size = static_cast<int64_t>(std::ceil(std::pow(n, 1 / static_cast<double>(order)) - 1e-9));
  std::vector<int64_t> fold(static_cast<size_t>(order), std::max<int64_t>(size, 1));
  fold.front() = 0;
  return fold;
}

}  // namespace

void FoldConfig::fields(Fields& f, const std::string& help, std::vector<std::string> forms,
                        std::string tensor) {
  forms.emplace_back("tensor");
  f.add_preset("type", type, help, {.one_of = std::move(forms)}, [this, tensor = std::move(tensor)] {
    if (type != "tensor") return;
    warn_of_alias(type, tensor);
    type = tensor;
  });
  f.add(
      "fold", fold,
      "mode sizes n_1 … n_m that the sequence is folded into, last fastest; n_1 = 0: grows with the sequence",
      {.min = 0});
  f.add("window", window, "sliding window in tokens; summary: 0 is twice the last size of fold", {.min = 0});
  f.add("summary_tokens", summary_tokens, "summary: summary tokens per complete block",
        {.min = 1, .max = 1024});
}

void FoldConfig::refuse(bool given, std::string_view name, const std::string& source) const {
  require(!given, ErrorKind::config, "{}: attention.{} has no effect with attention.type = \"{}\"", source,
          name, type);
}

void FoldConfig::check_sizes(const std::string& source) const {
  double cells = 1;
  for (size_t i = 0; i < fold.size(); ++i) {
    require(
        fold[i] >= 1 || (i == 0 && fold[i] == 0), ErrorKind::config,
        "{}: attention.fold contains {} at position {}; sizes are at least 1, only the first may be 0 (as "
        "large as the sequence needs)",
        source, fold[i], i + 1);
    if (fold[i] > 0) cells *= static_cast<double>(fold[i]);
  }
  require(cells < 0x1p62, ErrorKind::config,
          "{}: the product of attention.fold, about {:.3g}, exceeds 62 bits", source, cells);
}

void FoldConfig::check_window(const std::string& source) const {
  require(
      window == 0 || fold.size() < 2 || window >= fold.back(), ErrorKind::config,
      "{}: attention.window = {} is smaller than the last size of attention.fold, {}: tokens of the partial "
      "block could not be attended to",
      source, window, fold.empty() ? 0 : fold.back());
}

void FoldConfig::validate(const std::string& source) const {
  const ops::AttentionType& known = ops::attention_type(type);
  refuse(!known.fold && !fold.empty(), "fold", source);
  refuse(!known.window && window != 0, "window", source);
  refuse(!known.latents && summary_tokens != 1, "summary_tokens", source);
  check_sizes(source);
  require(!known.window || known.latents || window >= 1, ErrorKind::config,
          "{}: attention.type = \"{}\" needs attention.window, the number of tokens attended to", source,
          type);
  if (known.latents) check_window(source);
}

void SequenceAttentionConfig::fields(Fields& f) {
  std::vector<std::string> forms;
  std::string help;
  for (const nn::SequenceConstructor& one : nn::sequence_constructors()) {
    forms.emplace_back(one.name);
    help += fmt::format("{}{} ({})", help.empty() ? "" : ", ", one.name,
                        ops::find_attention_type(one.name)->summary);
  }
  FoldConfig::fields(f, help, std::move(forms), "axial");
  f.add("order", order,
        "axial: number of last modes of fold attended along; 1: blocks of tokens, 0: the whole fold",
        {.min = 0, .max = 16});
  f.add("density", density, "random, topk, window: fraction of the tokens that a token attends to; above 0",
        {.min = 0, .max = 1});
  for (const ops::AttentionOption& option : ops::attention_options())
    f.add(option.name, own[option.name], fmt::format("{}: {}", option.type, option.help),
          {.min = static_cast<double>(option.min), .max = static_cast<double>(option.max)});
}

void SequenceAttentionConfig::validate(const std::string& source, int64_t tokens) const {
  const ops::AttentionType* known = ops::find_attention_type(type);
  require(known != nullptr && known->has_module, ErrorKind::config, "{}: there is no attention.type \"{}\"",
          source, type);
  const SequenceAttentionConfig plain;
  refuse(!known->fold && !fold.empty(), "fold", source);
  refuse(!known->order && order != 0, "order", source);
  refuse(!known->window && window != 0, "window", source);
  refuse(!known->latents && summary_tokens != 1, "summary_tokens", source);
  refuse(!known->density && density != plain.density, "density", source);
  for (const ops::AttentionOption& option : ops::attention_options())
    refuse(option.type != known->name && own[option.name] != option.standard, option.name, source);
  check_sizes(source);
  if (known->latents) check_window(source);
  require(density > 0, ErrorKind::config,
          "{}: attention.density must be above 0: with 0 a token would attend to nothing, not even itself",
          source);
  require(
      window == 0 || !known->density || density == plain.density, ErrorKind::config,
      "{}: attention.window = {} and attention.density = {} both set the number of attended tokens; give one",
      source, window, density);
  const int64_t kernel = own["kernel"], projected = own["projected"];
  require(kernel % 2 == 1 || kernel == 0, ErrorKind::config, "{}: attention.kernel must be odd or 0, got {}",
          source, kernel);
  require(projected <= tokens, ErrorKind::config,
          "{}: attention.projected = {} exceeds the {} tokens of the sequence", source, projected, tokens);
  const auto modes = static_cast<int64_t>(fold.size());
  require(order == 0 || fold.empty() || order <= modes, ErrorKind::config,
          "{}: attention.order = {} exceeds the number of modes of attention.fold [{}]", source, order,
          fmt::join(fold, ", "));
  if (!known->fold || fold.empty()) return;
  double cells = 1, behind = 1;
  for (size_t i = 0; i < fold.size(); ++i) {
    cells *= static_cast<double>(fold[i]);
    if (i > 0) behind *= static_cast<double>(fold[i]);
  }
  const bool grows = fold.front() == 0 || order == modes;
  require(
      grows || cells >= static_cast<double>(tokens), ErrorKind::config,
      "{}: attention.fold [{}] has {} cells, but the sequence has {} tokens; a first size of 0 grows with it",
      source, fmt::join(fold, ", "), cells, tokens);
  require(
      known->latents || modes < 2 || order > 0 || behind < static_cast<double>(tokens) || tokens <= 1,
      ErrorKind::config,
      "{}: {} tokens do not fill attention.fold [{}]: the sizes after the first already hold {}, so no token "
      "would attend along the first mode",
      source, tokens, fmt::join(fold, ", "), behind);
}

nn::SequenceAttentionOptions SequenceAttentionConfig::options(int64_t width, int64_t heads,
                                                              int64_t tokens) const {
  nn::SequenceAttentionOptions out = {.width = width, .heads = heads, .tokens = tokens, .type = type};
  out.fold = fold, out.window = window, out.summary_tokens = summary_tokens;
  out.density = density, out.own = own;
  const ops::AttentionType* known = ops::find_attention_type(type);
  if (known == nullptr || !known->fold) return out;
  out.modes = order;
  if (fold.empty())
    out.fold = equal_fold(order == 0 ? 2 : order, tokens);
  else if (order == static_cast<int64_t>(fold.size()) && fold.front() > 0)
    out.fold.insert(out.fold.begin(), 0);  // blocks that do not attend to each other
  else if (order == static_cast<int64_t>(fold.size()))
    out.modes = 0;
  if (out.modes == static_cast<int64_t>(out.fold.size())) out.modes = 0;
  return out;
}

std::string SequenceAttentionConfig::title() const {
  std::string out = type;
  if (!fold.empty()) out += fmt::format(" {}", fmt::join(fold, "·"));
  if (order > 0) out += fmt::format(" of order {}", order);
  if (summary_tokens > 1) out += fmt::format(", {} summary tokens", summary_tokens);
  const ops::AttentionType* known = ops::find_attention_type(type);
  if (known == nullptr) return out;
  if (window > 0 && !known->latents) out += fmt::format(" {}", window);
  if (known->density && window == 0) out += fmt::format(" {:g} %", density * 100);
  std::vector<int64_t> sizes;
  for (const std::string_view option : known->titled)
    if (!option.empty() && own[option] != 0) sizes.push_back(own[option]);
  if (!sizes.empty()) out += fmt::format(" {}", fmt::join(sizes, "×"));
  return out;
}

}  // namespace modewise::models
