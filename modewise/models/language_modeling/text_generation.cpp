#include "modewise/models/language_modeling/text_generation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

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

/// Bytes of weights and caches above which decoding uses several threads. One core reads about 13 GB/s, so
/// this is over a millisecond per token; waking threads for every product of a few layers costs tenths of a
/// millisecond, and far more on a busy machine. At 4 and 15 MB, one and two threads took the same median
/// time.
constexpr double kWorthThreads = 0x1p24;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Token ids as [1, n] on the model's device.
at::Tensor as_tokens(std::span<const text::Tokenizer::Id> ids, const LanguageModel& model) {
  const at::Tensor out =
      at::empty({1, static_cast<int64_t>(ids.size())}, at::TensorOptions(at::kCPU).dtype(at::kLong));
  std::copy(ids.begin(), ids.end(), out.mutable_data_ptr<int64_t>());
  return out.to(model.head_weight().device());
}

/// Streams text up to a stop sequence, holding back text that may become one.
class StopTexts {
 public:
  explicit StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
    std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
  }
  /// Appends `more` and returns the text that is safe to show.
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

std::vector<text::Tokenizer::Id> prompt_ids(const text::Tokenizer& tokenizer, std::string_view prompt,
                                            int64_t vocabulary) {
  std::vector<text::Tokenizer::Id> ids = tokenizer.encode(prompt);
  if (const auto begin = tokenizer.begin_before_text()) ids.insert(ids.begin(), *begin);
  require(!ids.empty(), ErrorKind::usage, "the prompt must not be empty: the tokenizer ({}) {}",
          tokenizer.name(),
          tokenizer.begin_id() ? "puts no BOS token before a text (--bos yes puts one)" : "has no BOS token");
  for (const text::Tokenizer::Id id : ids)
    require(id >= 0 && id < vocabulary, ErrorKind::data,
            "token {} is outside the model's vocabulary of {}: text and model have different tokenizers", id,
            vocabulary);
  return ids;
}

/// Sentences for a prompt that begins with the text of the begin token.
std::vector<std::string> prompt_notes(const text::Tokenizer& tokenizer, std::string_view prompt,
                                      const std::vector<text::Tokenizer::Id>& ids) {
  const auto begin = tokenizer.begin_before_text();
  if (!begin) return {};
  const std::string name = tokenizer.token_text(*begin);
  if (ids.size() > 1 && ids[1] == *begin)
    return {
        fmt::format("the prompt begins with the begin token {}, and another is put before it, as by "
                    "transformers; --bos no puts none",
                    name)};
  if (!name.empty() && prompt.starts_with(name))
    return {
        fmt::format("the prompt begins with {}, which the tokenizer ({}) reads as ordinary text; the begin "
                    "token is put before it",
                    name, tokenizer.name())};
  return {};
}

/// Ids below `vocabulary` without a token.
std::vector<int64_t> ids_without_token(const text::Tokenizer& tokenizer, int64_t vocabulary) {
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < vocabulary; ++id)
    if (id >= tokenizer.size() || !tokenizer.has_token(static_cast<text::Tokenizer::Id>(id)))
      ids.push_back(id);
  return ids;
}

/// Samples the token after `earlier`, never one of `excluded` unless greedily. Changes the logits.
text::Tokenizer::Id next_token(std::span<float> logits, std::span<const text::Tokenizer::Id> earlier,
                               const std::vector<int64_t>& excluded, const SamplingConfig& sampling) {
  if (sampling.repetition_penalty != 1) penalize_repetition(logits, earlier, sampling.repetition_penalty);
  if (sampling.temperature > 0)
    for (const int64_t id : excluded) logits[static_cast<size_t>(id)] = -INFINITY;
  return static_cast<text::Tokenizer::Id>(sample_token(logits, sampling, earlier.size()));
}

/// Length of the cached text. The last generated token is shown but not fed back.
ops::CachedText cached_text(size_t prompt, const GenerationConfig& config) {
  constexpr int64_t kLongest = int64_t{1} << 40;  // beyond any memory, but its bytes are still countable
  return {.prompt = static_cast<int64_t>(prompt),
          .chunk = config.prompt_chunk,
          .tokens = std::clamp<int64_t>(config.tokens - 1, 0, kLongest)};
}

void check_memory(const LanguageModelConfig& config, const ops::CachedText& text, int64_t tokens) {
  const ops::CacheBytes bytes = cache_bytes(config, text);
  const double needed = bytes.kept + bytes.moving;
  const auto there = static_cast<double>(available_memory());
  require(needed <= 0.9 * there, ErrorKind::general,
          "{} prompt tokens and {} new tokens need {} of key-value caches with {} attention, but only {} of "
          "memory are "
          "free{}",
          text.prompt, tokens, memory_text(needed), config.attention.type, memory_text(there),
          config.attention.type == "full" ? "; --attention summary needs hardly any" : "");
}

/// Bytes of weights read per token: all except an untied input embedding.
double weight_bytes_read(const LanguageModel& model) {
  double sum = 0;
  for (const auto& item : model.named_parameters())
    if (model.config().tied || item.key() != "model.embed_tokens.weight")
      sum += static_cast<double>(item.value().nbytes());
  return sum;
}

/// Feeds the prompt; returns the next-token logits [V].
at::Tensor read_prompt(LanguageModel& model, std::vector<ops::AttentionCache>& caches,
                       std::span<const text::Tokenizer::Id> ids, int64_t chunk) {
  at::Tensor logits;
  const auto step = static_cast<size_t>(std::max<int64_t>(chunk, 1));
  for (size_t first = 0; first < ids.size(); first += step) {
    const auto part = ids.subspan(first, std::min(step, ids.size() - first));
    if (first + part.size() < ids.size())
      model.step_hidden(as_tokens(part, model), caches);
    else
      logits = model.step(as_tokens(part, model), caches);
  }
  return logits;
}

std::span<float> values_of(at::Tensor& logits) {
  logits = logits.to(at::kCPU, at::kFloat).contiguous();
  return {logits.mutable_data_ptr<float>(), static_cast<size_t>(logits.numel())};
}

}  // namespace

bool ends_text(text::Tokenizer::Id id, const text::Tokenizer& tokenizer,
               const std::vector<int64_t>& end_ids) {
  if (end_ids.empty()) return id == tokenizer.begin_id() || id == tokenizer.end_id();
  return std::find(end_ids.begin(), end_ids.end(), id) != end_ids.end();
}

ops::CacheBytes cache_bytes(const LanguageModelConfig& given, const ops::CachedText& text) {
  const LanguageModelConfig c = given.resolved();
  const ops::CacheShape shape = {.heads = c.heads,
                                 .kv_heads = c.kv_heads,
                                 .width = c.head_width,
                                 .summary_tokens = c.attention.summary_tokens,
                                 .type = c.precision == "bf16" ? at::kBFloat16 : at::kFloat};
  const ops::CacheBytes layer = ops::cache_bytes(c.attention_options(), shape, text);
  const auto layers = static_cast<double>(c.layers);
  return {.kept = layers * layer.kept, .moving = layer.moving, .read = layers * layer.read};
}

Generation generate_text(LanguageModel& model, std::shared_ptr<const text::Tokenizer> tokenizer,
                         std::string_view prompt, const GenerationConfig& config, const ShowText& show) {
  config.sampling.validate();
  require(tokenizer != nullptr, ErrorKind::usage,
          "text generation needs a tokenizer: the folder of the model has none");
  const at::NoGradGuard no_grad;
  model.eval();
  Generation out;
  out.prompt = prompt_ids(*tokenizer, prompt, model.config().vocabulary);
  out.notes = prompt_notes(*tokenizer, prompt, out.prompt);
  if (const std::vector<std::string> idle = config.sampling.idle_options(); !idle.empty())
    out.notes.push_back(
        fmt::format("no effect at temperature 0 (greedy decoding): {}", fmt::join(idle, ", ")));
  const ops::CachedText cached = cached_text(out.prompt.size(), config);
  check_memory(model.config(), cached, config.tokens);
  std::vector<ops::AttentionCache> caches = model.new_cache();
  const Clock::time_point start = Clock::now();
  at::Tensor logits = read_prompt(model, caches, out.prompt, config.prompt_chunk);
  out.prompt_seconds = seconds_since(start);

  std::optional<ops::OneThread> alone;
  if (weight_bytes_read(model) + cache_bytes(model.config(), cached).read < kWorthThreads) alone.emplace();
  const Clock::time_point first = Clock::now();
  text::TextStream stream(tokenizer, prompt.empty());
  StopTexts stops(config.stop);
  const std::vector<int64_t> excluded = ids_without_token(*tokenizer, model.config().vocabulary);
  std::vector<text::Tokenizer::Id> earlier = out.prompt;
  out.stopped_by = "tokens";
  const auto pass = [&](std::string_view more) {
    const std::string shown = stops.push(more);
    out.text += shown;
    if (show && !shown.empty() && !show(shown)) out.stopped_by = "caller";
    if (stops.found()) out.stopped_by = "stop text";
    return out.stopped_by == "tokens";
  };
  while (static_cast<int64_t>(out.ids.size()) < config.tokens) {
    const text::Tokenizer::Id id = next_token(values_of(logits), earlier, excluded, config.sampling);
    earlier.push_back(id);
    out.ids.push_back(id);
    if (config.stop_at_eos && ends_text(id, *tokenizer, config.end_ids)) {
      out.stopped_by = "mark";
      break;
    }
    const std::string more = id < tokenizer->size() ? stream.push(id) : "";
    if (!pass(more) || static_cast<int64_t>(out.ids.size()) == config.tokens) break;
    logits = model.step(as_tokens({&id, 1}, model), caches);
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
