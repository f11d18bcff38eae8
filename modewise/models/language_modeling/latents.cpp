#include "modewise/models/language_modeling/latents.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "modewise/nn/attention/language_attention.h"

namespace modewise::models {
namespace {

/// "level 3", "summary tokens 2 to 4"
std::string numbers(const char* what, int64_t first, int64_t last) {
  return first == last ? fmt::format("{} {}", what, first) : fmt::format("{}s {} to {}", what, first, last);
}

/// "level 3 is initialized as mean pooling (zero)"
std::string starting(const char* what, int64_t first, int64_t last, int64_t summary_tokens) {
  const char* how =
      summary_tokens == 1 ? "as mean pooling (zero)" : "near mean pooling (small random values)";
  return fmt::format("{} {} {}", numbers(what, first, last),
                     first == last ? "is initialized" : "are initialized", how);
}

std::string left_out(const char* what, int64_t first, int64_t last) {
  return fmt::format("{} {} ignored", numbers(what, first, last), first == last ? "is" : "are");
}

/// Whether the saved latents have the same heads, so that they can be kept.
bool fit(const at::Tensor& latents, const at::Tensor& had) {
  return had.defined() && had.dim() == 4 && had.size(1) == latents.size(1) && had.size(3) == latents.size(3);
}

/// Notes on one layer's latents; all layers are alike.
std::vector<std::string> notes_of(const at::Tensor& latents, const at::Tensor& had, int64_t layers) {
  const int64_t levels = latents.size(0), summary_tokens = latents.size(2);
  const std::string of = fmt::format("latents of {} layers: ", layers);
  if (!fit(latents, had)) return {of + "none in the file, " + starting("level", 1, levels, summary_tokens)};
  std::vector<std::string> out;
  const auto compare = [&](const char* what, int64_t wanted, int64_t there) {
    if (wanted == there) return;
    const int64_t kept = std::min(wanted, there);
    out.push_back(of + numbers(what, 1, kept) + (kept == 1 ? " is kept, " : " are kept, ") +
                  (wanted > there ? starting(what, kept + 1, wanted, summary_tokens)
                                  : left_out(what, kept + 1, there)));
  };
  compare("level", levels, had.size(0));
  compare("summary token", summary_tokens, had.size(2));
  return out;
}

}  // namespace

std::vector<std::string> take_latents(LanguageModel& model, const FindLatents& find) {
  const at::NoGradGuard no_grad;
  at::Tensor last, last_had;
  int64_t layers = 0;
  for (auto& item : model.named_parameters()) {
    if (!item.key().ends_with(".latents")) continue;
    at::Tensor& latents = item.value();
    const at::Tensor had = find(item.key());
    nn::start_latents(latents);
    if (fit(latents, had)) {
      const int64_t levels = std::min(latents.size(0), had.size(0));
      const int64_t summary_tokens = std::min(latents.size(2), had.size(2));
      latents.narrow(0, 0, levels)
          .narrow(2, 0, summary_tokens)
          .copy_(had.narrow(0, 0, levels).narrow(2, 0, summary_tokens));
    }
    last = latents, last_had = had;
    ++layers;
  }
  return layers == 0 ? std::vector<std::string>() : notes_of(last, last_had, layers);
}

}  // namespace modewise::models
