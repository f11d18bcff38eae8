#include "modewise/models/text_generation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"
#include "modewise/ops/cpu/one_thread.h"
#include "modewise/text/text_stream.h"

namespace modewise::models {
namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of caches from which on several threads read them faster than one.
constexpr double kWorthThreads = 0x1p24;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

at::Tensor as_tokens(std::span<const text::Tokenizer::Id> ids) {
  at::Tensor out = at::empty({1, static_cast<int64_t>(ids.size())}, at::kLong);
  std::copy(ids.begin(), ids.end(), out.mutable_data_ptr<int64_t>());
  return out;
}

/// Lets text through up to a stop text, and holds back what might become one.
class StopTexts {
 public:
  explicit StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
    std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
  }
  /// What may be shown after `more`.
  std::string push(std::string_view more) {
    held_ += more;
    size_t end = std::string::npos;
    for (const std::string& text : texts_) end = std::min(end, held_.find(text));
    if (end != std::string::npos) {
      found_ = true;
      return std::exchange(held_, {}).substr(0, end);
    }
    size_t safe = held_.size();
    for (const std::string& text : texts_)
      for (size_t length = std::min(text.size() - 1, held_.size()); length > 0; --length)
        if (held_.ends_with(std::string_view(text).substr(0, length))) {
          safe = std::min(safe, held_.size() - length);
          break;
        }
    std::string out = held_.substr(0, safe);
    held_.erase(0, safe);
    return out;
  }
  std::string finish() { return std::exchange(held_, {}); }
  bool found() const { return found_; }

 private:
  std::vector<std::string> texts_;
  std::string held_;
  bool found_ = false;
};

std::vector<text::Tokenizer::Id> prompt_ids(const text::Tokenizer& tokenizer, std::string_view prompt) {
  std::vector<text::Tokenizer::Id> ids = tokenizer.encode(prompt);
  if (const auto begin = tokenizer.begin_id()) ids.insert(ids.begin(), *begin);
  require(!ids.empty(), ErrorKind::usage,
          "a prompt is needed: the tokenizer ({}) has no mark that opens a text", tokenizer.name());
  return ids;
}

void check_memory(const LanguageModelConfig& config, int64_t prompt, int64_t tokens) {
  const double needed = cache_bytes_after(config, prompt + tokens);
  const auto there = static_cast<double>(available_memory());
  require(needed <= 0.9 * there, ErrorKind::general,
          "{} tokens of prompt and {} to generate need {} of caches with {} attention, but {} of memory are "
          "free{}",
          prompt, tokens, memory_text(needed), config.attention.form, memory_text(there),
          config.attention.form == "full" ? "; --attention causal needs hardly any" : "");
}

/// Reads the prompt; the logits [V] that follow it.
at::Tensor read_prompt(LanguageModel& model, std::vector<ops::AttentionCache>& caches,
                       std::span<const text::Tokenizer::Id> ids, int64_t chunk) {
  at::Tensor logits;
  const auto step = static_cast<size_t>(std::max<int64_t>(chunk, 1));
  for (size_t first = 0; first < ids.size(); first += step) {
    const auto part = ids.subspan(first, std::min(step, ids.size() - first));
    if (first + part.size() < ids.size())
      model.step_hidden(as_tokens(part), caches);
    else
      logits = model.step(as_tokens(part), caches);
  }
  return logits;
}

std::span<const float> values_of(at::Tensor& logits) {
  logits = logits.to(at::kFloat).contiguous();
  return {logits.const_data_ptr<float>(), static_cast<size_t>(logits.numel())};
}

}  // namespace

double cache_bytes_after(const LanguageModelConfig& given, int64_t tokens) {
  const LanguageModelConfig c = given.resolved();
  auto entries = static_cast<double>(tokens);
  if (c.attention.form == "window" || c.attention.form == "lambda")
    entries = std::min(entries, static_cast<double>(c.attention.window + c.attention.sinks));
  if (c.attention.form == "causal") {
    double block = 1, slots = 0;
    for (size_t mode = c.attention.fold.size(); mode-- > 1;) {
      block *= static_cast<double>(c.attention.fold[mode]);
      const double finished = std::floor(static_cast<double>(tokens) / block);
      slots += static_cast<double>(c.attention.slots) *
               (mode == 1 ? finished : std::min(finished, static_cast<double>(c.attention.fold[mode - 1])));
    }
    entries = std::min(entries, static_cast<double>(c.attention.window)) + slots;
  }
  const double width = c.precision == "bf16" ? 2 : 4;
  return entries * 2 * width * static_cast<double>(c.layers * c.kv_heads * c.head_width);
}

Generation generate_text(LanguageModel& model, std::shared_ptr<const text::Tokenizer> tokenizer,
                         std::string_view prompt, const GenerationConfig& config, const ShowText& show) {
  config.sampling.validate();
  const at::NoGradGuard no_grad;
  model.eval();
  Generation out;
  out.prompt = prompt_ids(*tokenizer, prompt);
  check_memory(model.config(), static_cast<int64_t>(out.prompt.size()), config.tokens);
  std::vector<ops::AttentionCache> caches = model.new_cache();
  const Clock::time_point start = Clock::now();
  at::Tensor logits = read_prompt(model, caches, out.prompt, config.prompt_chunk);
  out.prompt_seconds = seconds_since(start);

  // A token's work is too little to share but for long caches: waking threads would cost more, and far more
  // on a busy machine.
  std::optional<ops::OneThread> alone;
  if (cache_bytes_after(model.config(), static_cast<int64_t>(out.prompt.size()) + config.tokens) <
      kWorthThreads)
    alone.emplace();
  const Clock::time_point first = Clock::now();
  text::TextStream stream(tokenizer, prompt.empty());
  StopTexts stops(config.stop);
  out.stopped_by = "tokens";
  const auto pass = [&](std::string_view more) {
    const std::string shown = stops.push(more);
    out.text += shown;
    if (show && !shown.empty() && !show(shown)) out.stopped_by = "caller";
    if (stops.found()) out.stopped_by = "stop text";
    return out.stopped_by == "tokens";
  };
  while (static_cast<int64_t>(out.ids.size()) < config.tokens) {
    const auto id = static_cast<text::Tokenizer::Id>(
        sample_token(values_of(logits), config.sampling, out.prompt.size() + out.ids.size()));
    out.ids.push_back(id);
    if (config.stop_at_marks && (id == tokenizer->begin_id() || id == tokenizer->end_id())) {
      out.stopped_by = "mark";
      break;
    }
    if (!pass(stream.push(id)) || static_cast<int64_t>(out.ids.size()) == config.tokens) break;
    logits = model.step(as_tokens({&id, 1}), caches);
  }
  if (!stops.found()) {
    const std::string rest = stream.finish();
    const bool passed = pass(rest);
    const std::string held = stops.found() ? "" : stops.finish();
    out.text += held;
    if (passed && show && !held.empty()) show(held);
  }
  out.seconds = seconds_since(first);
  for (const ops::AttentionCache& cache : caches) out.cache_bytes += cache.bytes();
  return out;
}

}  // namespace modewise::models
