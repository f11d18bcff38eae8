#include "modewise/tasks/language_modeling/passkey.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/core/random.h"
#include "modewise/core/stop_signal.h"
#include "modewise/models/language_modeling/text_generation.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/language_modeling/scores.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Ids = std::vector<text::Tokenizer::Id>;
using Clock = std::chrono::steady_clock;

constexpr const char* kOpening =
    "A number is hidden somewhere in the text that follows. Keep it in mind, since it will be asked for at "
    "the end.\n";
constexpr const char* kFiller =
    "Rain fell on the hills all day. The river rose a little and sank again. Nobody came along the road. ";
constexpr const char* kQuestion = "\nWhich number was hidden? The hidden number is";

std::string secret(const RandomStream& stream, int64_t digits) {
  std::string number(1, static_cast<char>('1' + stream.word(0) % 9));
  for (int64_t i = 1; i < digits; ++i)
    number += static_cast<char>('0' + stream.word(static_cast<uint64_t>(i)) % 10);
  return number;
}

std::string needle_of(const std::string& number) {
  return fmt::format("The hidden number is {}. Keep {} in mind. ", number, number);
}

/// `count` tokens of the filler text.
Ids dull_tokens(const text::Tokenizer& tokenizer, int64_t count) {
  Ids ids;
  std::string text;
  while (std::ssize(ids) < count) {
    for (int64_t i = 0; i < count / 16 + 4; ++i) text += kFiller;
    ids = tokenizer.encode(text);
  }
  ids.resize(static_cast<size_t>(count));
  return ids;
}

std::string greedy_text(models::LanguageModel& model, const text::Tokenizer& tokenizer, const Ids& prompt,
                        int64_t max_bytes, const std::vector<int64_t>& end_ids) {
  constexpr size_t chunk = 1024;
  auto caches = model.new_cache();
  at::Tensor logits;
  for (size_t begin = 0; begin < prompt.size(); begin += chunk) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const std::vector<int64_t> part(
        prompt.begin() + static_cast<std::ptrdiff_t>(begin),
        prompt.begin() + static_cast<std::ptrdiff_t>(std::min(begin + chunk, prompt.size())));
    logits = model.step(at::tensor(part).unsqueeze(0), caches);
  }
  Ids ids;
  std::string text;
  while (std::ssize(text) < max_bytes && std::ssize(ids) < 4 * max_bytes) {
    require_finite(logits.amax().item<double>());
    const auto id = logits.argmax(-1).item<int64_t>();
    ids.push_back(static_cast<text::Tokenizer::Id>(id));
    if (models::ends_text(ids.back(), tokenizer, end_ids)) break;
    bool start = false;
    if (ids.back() < tokenizer.size()) tokenizer.append(ids.back(), start, text);
    logits = model.step(at::tensor(std::vector<int64_t>{id}).unsqueeze(0), caches);
  }
  return text;
}

}  // namespace

PasskeyPrompt make_passkey_prompt(const text::Tokenizer& tokenizer, const PasskeyOptions& options,
                                  int64_t length, double depth, int64_t trial) {
  PasskeyPrompt prompt;
  prompt.number =
      secret({options.seed ^ static_cast<uint64_t>(length) << 20, RandomSite::simulation,
              static_cast<uint64_t>(std::llround(depth * 1e6)) * 1024 + static_cast<uint64_t>(trial)},
             options.digits);
  const Ids first = tokenizer.encode(kOpening), last = tokenizer.encode(kQuestion);
  const Ids needle = tokenizer.encode(needle_of(prompt.number));
  const std::optional<text::Tokenizer::Id> begin_id = tokenizer.begin_before_text();
  const int64_t begin = begin_id ? 1 : 0;
  const int64_t rest = length - begin - std::ssize(first) - std::ssize(last) - std::ssize(needle);
  require(rest >= 0, ErrorKind::data, "a passkey prompt needs at least {} tokens with this tokenizer, got {}",
          length - rest, length);
  const auto before = std::llround(depth * static_cast<double>(rest));
  const auto add = [&](const Ids& ids) { prompt.tokens.insert(prompt.tokens.end(), ids.begin(), ids.end()); };
  if (begin_id) prompt.tokens.push_back(*begin_id);
  add(first);
  add(dull_tokens(tokenizer, before));
  add(needle);
  add(dull_tokens(tokenizer, rest - before));
  add(last);
  return prompt;
}

std::string passkey_text(int64_t length, uint64_t seed, uint64_t index) {
  const PasskeyOptions options;
  const RandomStream stream{~seed, RandomSite::simulation, index};
  const std::string number = secret(stream, options.digits), needle = needle_of(number);
  const std::string answer = fmt::format("{} {}\n", kQuestion, number);
  const int64_t fixed = std::ssize(std::string(kOpening) + needle + answer), rest = length - fixed;
  require(rest >= 0, ErrorKind::data, "a passkey text needs at least {} bytes, got {}", fixed, length);
  const auto below = [&](uint64_t draw, int64_t n) {
    return static_cast<size_t>((uint64_t{stream.word(draw)} * static_cast<uint64_t>(n)) >> 32);
  };
  const auto draws = static_cast<uint64_t>(options.digits);
  const size_t dull = below(draws, rest + 1), before = below(draws + 1, static_cast<int64_t>(dull) + 1);
  std::string text;
  while (text.size() < dull) text += kFiller;
  return kOpening + text.substr(0, before) + needle + text.substr(0, dull - before) + answer;
}

nlohmann::ordered_json measure_passkeys(models::LanguageModel& model, const text::Tokenizer& tokenizer,
                                        const PasskeyOptions& options, int64_t length) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  Progress progress(fmt::format("passkey {}", length), std::ssize(options.depths) * options.trials,
                    "prompts");
  for (const double depth : options.depths) {
    double exact = 0, digits = 0;
    const Clock::time_point began = Clock::now();
    for (int64_t trial = 0; trial < options.trials; ++trial) {
      const PasskeyPrompt prompt = make_passkey_prompt(tokenizer, options, length, depth, trial);
      std::string text = greedy_text(model, tokenizer, prompt.tokens, options.digits + 2, options.end_ids);
      text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
      const auto same = std::mismatch(prompt.number.begin(), prompt.number.end(), text.begin(), text.end());
      const auto right = same.first - prompt.number.begin();
      exact += right == options.digits ? 1 : 0;
      digits += static_cast<double>(right) / static_cast<double>(options.digits);
      progress.update(std::ssize(cells) * options.trials + trial + 1);
    }
    const auto trials = static_cast<double>(options.trials);
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    cells.push_back({{"length", length},
                     {"depth", depth},
                     {"exact", exact / trials},
                     {"digits", digits / trials},
                     {"seconds", seconds / trials}});
  }
  return cells;
}

}  // namespace modewise::tasks
