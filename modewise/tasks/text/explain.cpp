#include "modewise/tasks/text/explain.h"

#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/data/text/token_rows.h"
#include "modewise/tasks/run/result_tables.h"
#include "modewise/tasks/text/encoder_run.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kMaxRows = 200;  // maximum rows of a text's table
constexpr int64_t kMaxTargets = 3;

/// Text of a token.
std::string token_text(const TextReading& reading, text::Tokenizer::Id id) {
  if (id < reading.tokenizer->size()) {
    const std::string text = reading.tokenizer->decode(std::span(&id, 1));
    if (text.find_first_not_of(" \t\r\n") != std::string::npos) return text;
  }
  const auto& frame = reading.frame;
  if (id == frame.single.front().mark) return "(begin)";
  if (id == frame.single.back().mark) return "(end)";
  return fmt::format("(token {})", id);
}

std::vector<std::string> token_texts(const TextReading& reading, const text::FramedText& text) {
  std::vector<std::string> out;
  for (const auto id : text.ids) out.push_back(token_text(reading, id));
  return out;
}

/// Whether weights [.., n, n] are probabilities: non-negative, rows sum to 1.
bool are_shares(const at::Tensor& weights) {
  return weights.min().item<double>() >= 0 && (weights.sum(-1) - 1).abs().max().item<double>() < 1e-3;
}

/// Table of the largest attention weights [n, n] of each token.
report::Table looks_table(const std::vector<std::string>& tokens, const at::Tensor& matrix,
                          const std::vector<double>& effect) {
  const int64_t n = std::ssize(tokens);
  const at::Tensor plain = matrix.to(at::kDouble).contiguous();
  const double* values = plain.const_data_ptr<double>();
  std::vector<report::Column> columns = {
      {"position"}, {"token"}, {"attends to"}, {"mean attention received %"}};
  const bool moved = std::ssize(effect) == n;
  if (moved) columns.push_back({"effect"});
  report::Table table(columns);
  for (int64_t i = 0; i < std::min(n, kMaxRows); ++i) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) order[static_cast<size_t>(j)] = j;
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return values[i * n + a] > values[i * n + b]; });
    std::vector<std::string> targets;
    for (int64_t k = 0; k < std::min(kMaxTargets, n); ++k) {
      const int64_t j = order[static_cast<size_t>(k)];
      targets.push_back(
          fmt::format("{} {} {:.0f}%", j, tokens[static_cast<size_t>(j)], 100 * values[i * n + j]));
    }
    double looked = 0;
    for (int64_t k = 0; k < n; ++k) looked += values[k * n + i];
    std::vector<report::Cell> cells = {i, tokens[static_cast<size_t>(i)],
                                       fmt::format("{}", fmt::join(targets, ", ")),
                                       report::Cell(100 * looked / static_cast<double>(n), 1)};
    if (moved) cells.emplace_back(effect[static_cast<size_t>(i)], 4);
    table.add_row(std::move(cells));
  }
  return table;
}

Influence influence_of_tokens(const EncoderRun& run, const at::Tensor& whole, const std::string& name,
                              const models::TextInput& input, const std::vector<std::string>& tokens,
                              int64_t maximum) {
  const int64_t hidden = run.reading.frame.mask.value_or(*run.reading.frame.padding);
  Influence one =
      influence_of("token of " + name, std::ssize(tokens), 1, maximum, [&](int64_t begin, int64_t end) {
        models::TextInput changed = input;
        changed.ids = input.ids.clone();
        changed.ids.narrow(1, begin, end - begin).fill_(hidden);
        return (run.prediction(changed) - whole).abs().mean().item<double>();
      });
  if (one.places.size() == tokens.size())
    for (size_t i = 0; i < tokens.size(); ++i) one.places[i] += " " + tokens[i];
  return one;
}

/// Stores the attention of text `i` of `count`, [1, H, n, n] per layer, and the table of its last layer.
void add_matrices(const std::vector<at::Tensor>& layers, const std::vector<double>& effect, int64_t i,
                  int64_t count, Explanation& e) {
  const std::vector<std::string>& tokens = e.sample_labels.back();
  const int64_t n = std::ssize(tokens), longest = e.attention.sizes.front();
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const at::Tensor& matrix = layers[layer];
    if (e.attention.full.size() <= layer)
      e.attention.full.push_back(at::zeros({count, matrix.size(1), longest, longest}, at::kFloat));
    e.attention.full[layer][i].narrow(1, 0, n).narrow(2, 0, n).copy_(matrix[0]);
  }
  const at::Tensor last = layers.back()[0];
  e.tables.push_back({fmt::format("Attention of the tokens of {}", e.sample_names.back()),
                      are_shares(last)
                          ? "Last layer, mean over heads."
                          : "Last layer, mean over heads. The weights of this attention type are factors of "
                            "the values: they may be negative and do not sum to 100 %.",
                      looks_table(tokens, last.mean(0), effect)});
}

Explanation begin_explanation(Run& run, const ExplainOptions& options) {
  const RunSettings settings = run.settings();
  Explanation e;
  e.title = fmt::format("{} on {}", settings.model, settings.data);
  e.subtitle = "Attention and occlusion of tokens";
  e.facts = {{"run", run.folder().path().string()},
             {"samples", fmt::format("{} of the {} split", options.singles, options.split)}};
  e.mode_names = {"token"};
  e.labels = {{}};
  return e;
}

}  // namespace

Explanation explain_text(Run& given, const ExplainOptions& options) {
  const auto& run = as<EncoderRun>(given);
  const NamedTexts texts = run.shown_texts(run.other_texts ? "test" : options.split, options.singles);
  Explanation e = begin_explanation(given, options);
  size_t longest = 0;
  for (const auto& [name, text] : texts) longest = std::max(longest, text.ids.size());
  e.attention.sizes = {static_cast<int64_t>(longest)};
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& [name, text] = texts[i];
    const data::TokenRows row = data::side_by_side(std::span(&text, 1), *run.reading.frame.padding);
    const models::TextInput input{row.ids, row.mask, row.types};
    e.sample_names.push_back(name);
    e.sample_labels.push_back(token_texts(run.reading, text));
    std::vector<double> effect;
    if (const at::Tensor whole = run.prediction(input); whole.defined()) {
      e.influences.push_back(
          influence_of_tokens(run, whole, name, input, e.sample_labels.back(), options.places));
      effect = e.influences.back().effect;
    }
    const models::AttentionView view = run.attention(input);
    if (!view.full.empty()) add_matrices(view.full, effect, static_cast<int64_t>(i), std::ssize(texts), e);
  }
  if (!e.attention.full.empty()) e.ranks = analysis::layer_ranks(e.attention);
  if (e.influences.empty()) return e;
  e.effect_unit = "the mean absolute change of the prediction";
  e.removal = "the token is masked";
  return e;
}

}  // namespace modewise::tasks
