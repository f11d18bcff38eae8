#include "modewise/tasks/language_modeling/perplexity.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/ops/training/language_loss.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Clock = std::chrono::steady_clock;

void add_sliding(const PerplexityOptions& options, size_t document, int64_t n, bool prefix,
                 std::vector<ScoredWindow>& out) {
  const int64_t own = options.length - (prefix ? 1 : 0);  // document tokens of a full window
  int64_t predicted = prefix ? 0 : 1;                     // the first token has no context
  for (int64_t begin = 0; begin < n; begin += options.stride) {
    const int64_t end = std::min(begin + own, n);
    if (end > predicted) out.push_back({document, begin, end, prefix, end - predicted});
    predicted = std::max(predicted, end);
    if (end == n) break;
  }
}

void add_rolling(const PerplexityOptions& options, size_t document, int64_t n, bool prefix,
                 std::vector<ScoredWindow>& out) {
  const int64_t first = std::min(options.length, n);
  int64_t predicted = first;
  if (prefix)
    out.push_back({document, 0, first, true, first});
  else if (first > 1)
    out.push_back({document, 0, first, false, first - 1});
  while (predicted < n) {
    const int64_t count = std::min(options.length, n - predicted);
    predicted += count;
    out.push_back({document, predicted - options.length - 1, predicted, false, count});
  }
}

void add_spread(const PerplexityOptions& options, size_t document, int64_t n, int64_t count,
                std::vector<ScoredWindow>& out) {
  const int64_t minimum =
      std::max(options.longest, options.length) + 1;  // earliest end of the longest window
  for (int64_t i = 0; i < count; ++i) {
    const int64_t end = count == 1 ? n : minimum + (n - minimum) * i / (count - 1);
    out.push_back({document, end - options.length - 1, end, false, std::min(options.stride, options.length)});
  }
}

std::vector<ScoredWindow> spread_windows(const PerplexityOptions& options,
                                         const std::vector<int64_t>& documents) {
  const int64_t minimum = std::max(options.longest, options.length) + 1;
  std::vector<size_t> fit;
  for (size_t i = 0; i < documents.size(); ++i)
    if (documents[i] >= minimum) fit.push_back(i);
  require(!fit.empty(), ErrorKind::data,
          "no document has the {} tokens that a window of {} and its target need", minimum, minimum - 1);
  std::vector<ScoredWindow> out;
  const auto count = static_cast<int64_t>(fit.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t share = options.windows * (i + 1) / count - options.windows * i / count;
    add_spread(options, fit[static_cast<size_t>(i)],
               documents[static_cast<size_t>(fit[static_cast<size_t>(i)])], share, out);
  }
  return out;
}

/// Tokens of documents, joined for halves.
class DocumentTokens {
 public:
  DocumentTokens(const data::TokenPart& part, const PerplexityOptions& options) : part_(part) {
    for (const data::TokenSpan& span : part.spans) {
      begins_.push_back(span.begin);
      sizes_.push_back(span.size());
    }
    if (options.convention != "halves") return;
    for (size_t i = 0; i < sizes_.size(); ++i) joined_.push_back(i == 0 ? 0 : joined_.back() + sizes_[i - 1]);
    joined_.push_back(joined_.empty() ? 0 : joined_.back() + sizes_.back());
  }

  std::vector<int64_t> sizes() const {
    return joined_.empty() ? sizes_ : std::vector<int64_t>{joined_.back()};
  }

  void read(size_t document, int64_t begin, int64_t count, int64_t* out) const {
    if (joined_.empty()) {
      part_.file->read(begins_[document] + begin, count, out);
      return;
    }
    auto i =
        static_cast<size_t>(std::upper_bound(joined_.begin(), joined_.end(), begin) - joined_.begin()) - 1;
    for (; count > 0; ++i) {
      const int64_t take = std::min(count, joined_[i + 1] - begin);
      part_.file->read(begins_[i] + begin - joined_[i], take, out);
      begin += take;
      out += take;
      count -= take;
    }
  }

 private:
  const data::TokenPart& part_;
  std::vector<int64_t> begins_, sizes_, joined_;
};

class PerplexityMeter {
 public:
  PerplexityMeter(models::LanguageModel& model, const data::TokenPart& part, std::optional<int32_t> prefix,
                  const PerplexityOptions& options)
      : model_(model), tokens_(part, options), prefix_(prefix) {
    result_.options = options;
  }

  PerplexityResult measure() {
    const Clock::time_point begin = Clock::now();
    if (result_.options.convention == "stream") {
      const std::vector<int64_t> sizes = tokens_.sizes();
      for (size_t i = 0; i < sizes.size(); ++i) stream(i, sizes[i]);
    } else {
      windows();
    }
    result_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    require(result_.windows > 0, ErrorKind::data, "there is no token to predict");
    result_.window_loss /= static_cast<double>(result_.windows);
    return result_;
  }

 private:
  void add_window(const at::Tensor& losses, int64_t scored) {
    const double sum = ordered_sum(losses);
    require_finite(sum);
    result_.scores.loss += sum;
    result_.scores.tokens += scored;
    result_.window_loss += sum / static_cast<double>(scored);
    ++result_.windows;
  }

  void windows() {
    const auto plan = scored_windows(result_.options, tokens_.sizes(), prefix_.has_value());
    Progress progress(fmt::format("{} {}", result_.options.convention, result_.options.length),
                      std::ssize(plan), "windows");
    for (size_t begin = 0; begin < plan.size();) {
      if (stop_signal() != 0) throw train::EvaluationInterrupted{};
      const auto size = [&](size_t i) { return plan[i].end - plan[i].begin + (plan[i].prefix ? 1 : 0); };
      const int64_t maximum = std::max<int64_t>(1, result_.options.batch_tokens / size(begin));
      size_t end = begin + 1;
      while (end < plan.size() && std::ssize(plan) > 0 && static_cast<int64_t>(end - begin) < maximum &&
             size(end) == size(begin))
        ++end;
      score(std::span(plan).subspan(begin, end - begin), size(begin) - 1);
      begin = end;
      progress.update(static_cast<int64_t>(begin));
    }
  }

  /// Scores windows of n inputs each.
  void score(std::span<const ScoredWindow> batch, int64_t n) {
    const auto rows = static_cast<int64_t>(batch.size());
    const at::Tensor inputs = at::empty({rows, n}, at::kLong), targets = at::empty({rows, n}, at::kLong);
    std::vector<int64_t> sequence(static_cast<size_t>(n + 1));
    for (int64_t row = 0; row < rows; ++row) {
      const ScoredWindow& window = batch[static_cast<size_t>(row)];
      const int64_t skip = window.prefix ? 1 : 0;
      if (window.prefix) sequence.front() = *prefix_;
      tokens_.read(window.document, window.begin, n + 1 - skip, sequence.data() + skip);
      std::copy(sequence.begin(), sequence.end() - 1, inputs.mutable_data_ptr<int64_t>() + row * n);
      std::copy(sequence.begin() + 1, sequence.end(), targets.mutable_data_ptr<int64_t>() + row * n);
    }
    const at::Tensor hidden = model_.hidden(inputs);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t scored = batch[static_cast<size_t>(row)].scored;
      add_window(losses_of(model_, hidden.select(0, row).narrow(0, n - scored, scored),
                           targets.select(0, row).narrow(0, n - scored, scored)),
                 scored);
    }
    result_.computed += rows * n;
  }

  void stream(size_t document, int64_t n) {
    const int64_t chunk = 1024, skip = prefix_ ? 1 : 0, inputs = n + skip - 1;
    if (inputs < 1) return;
    auto caches = model_.new_cache();
    Progress progress(fmt::format("stream {}", document + 1), inputs, "tokens");
    const at::Tensor sequence = at::empty({chunk + 1}, at::kLong);
    auto* ids = sequence.mutable_data_ptr<int64_t>();
    for (int64_t begin = 0; begin < inputs; begin += chunk) {
      if (stop_signal() != 0) throw train::EvaluationInterrupted{};
      const int64_t count = std::min(chunk, inputs - begin);
      const bool opens = begin == 0 && prefix_;
      if (opens) ids[0] = *prefix_;
      tokens_.read(document, opens ? 0 : begin - skip, count + (opens ? 0 : 1), ids + (opens ? 1 : 0));
      const at::Tensor hidden = model_.step_hidden(sequence.narrow(0, 0, count).unsqueeze(0), caches);
      add_window(losses_of(model_, hidden.select(0, 0), sequence.narrow(0, 1, count)), count);
      result_.computed += count;
      progress.update(begin + count);
    }
    int64_t bytes = 0;
    for (const auto& cache : caches) bytes += cache.bytes();
    result_.cache_bytes = std::max(result_.cache_bytes, bytes);
  }

  models::LanguageModel& model_;
  const DocumentTokens tokens_;
  const std::optional<int32_t> prefix_;
  PerplexityResult result_;
};

}  // namespace

std::vector<ScoredWindow> scored_windows(const PerplexityOptions& options,
                                         const std::vector<int64_t>& documents, bool prefix) {
  require(options.length >= 2 && options.stride >= 1, ErrorKind::usage,
          "a window needs at least 2 tokens and a stride of at least 1, got {} and {}", options.length,
          options.stride);
  if (options.convention == "spread") return spread_windows(options, documents);
  std::vector<ScoredWindow> out;
  for (size_t i = 0; i < documents.size(); ++i) {
    if (options.convention == "sliding") {
      add_sliding(options, i, documents[i], prefix, out);
    } else if (options.convention == "rolling") {
      add_rolling(options, i, documents[i], prefix, out);
    } else {
      require(options.convention == "halves", ErrorKind::usage, "there is no convention '{}' of windows",
              options.convention);
      const int64_t n = options.length;
      for (int64_t begin = 0; begin + n <= documents[i]; begin += n)
        out.push_back({i, begin + (prefix ? 1 : 0), begin + n, prefix, n - n / 2 - 1});
    }
  }
  std::erase_if(out, [](const ScoredWindow& window) { return window.scored < 1; });
  require(!out.empty(), ErrorKind::data, "the text is too short for a window of {} tokens", options.length);
  return out;
}

PerplexityResult measure_perplexity(models::LanguageModel& model, const data::TokenPart& part,
                                    std::optional<int32_t> prefix, const PerplexityOptions& options) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  require(!part.spans.empty(), ErrorKind::data, "there is no text to evaluate");
  return PerplexityMeter(model, part, prefix, options).measure();
}

nlohmann::ordered_json to_json(const PerplexityResult& result) {
  nlohmann::ordered_json json = {{"convention", result.options.convention}};
  if (result.options.convention != "stream") json["length"] = result.options.length;
  if (result.options.convention == "sliding" || result.options.convention == "spread")
    json["stride"] = result.options.stride;
  json.update(to_json(result.scores));
  json["windows"] = result.windows;
  json["window_mean_loss"] = result.window_loss;
  json["window_mean_perplexity"] = std::exp(result.window_loss);
  json["computed_tokens"] = result.computed;
  json["seconds"] = result.seconds;
  json["tokens_per_second"] = static_cast<double>(result.computed) / result.seconds;
  if (result.options.convention == "stream") json["cache_bytes"] = result.cache_bytes;
  return json;
}

}  // namespace modewise::tasks
