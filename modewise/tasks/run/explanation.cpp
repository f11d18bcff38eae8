#include "modewise/tasks/run/explanation.h"

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/run/comparison.h"
#include "modewise/tasks/run/run_figures.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

io::Array array_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kFloat).contiguous();
  return io::make_array(plain.sizes().vec(),
                        std::span(plain.const_data_ptr<float>(), static_cast<size_t>(plain.numel())));
}

std::string plain_name(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

Json ranks_json(const Explanation& e) {
  Json out = Json::array();
  for (size_t layer = 0; layer < e.ranks.size(); ++layer) {
    const analysis::LayerRanks& ranks = e.ranks[layer];
    Json one = {{"layer", layer + 1}};
    for (size_t i = 0; i < ranks.modes.size(); ++i)
      one["modes"][e.mode_names[static_cast<size_t>(ranks.modes[i])]] = ranks.by_mode[i];
    if (!ranks.product.empty()) one["product"] = ranks.product;
    if (!ranks.sum.empty()) one["sum"] = ranks.sum;
    if (!ranks.full.empty()) one["full"] = ranks.full;
    out.push_back(std::move(one));
  }
  return out;
}

void add_ranks(report::HtmlPage& page, const Explanation& e) {
  if (e.ranks.empty()) return;
  page.add_section("Stable rank");
  page.add_table(
      rank_table(e),
      "Stable rank ‖A‖_F² / ‖A‖_2² of the attention matrices, mean over heads and samples: from 1 to the "
      "size of the matrix. Product and sum: matrices over all tokens, joined from the modes' matrices.");
}

void add_influences(report::HtmlPage& page, const Explanation& e) {
  if (e.influences.empty()) return;
  page.add_section("Occlusion");
  page.add_paragraph(
      fmt::format("Each position is occluded in turn ({}); the effect is {}.", e.removal, e.effect_unit));
  for (const Influence& one : e.influences) {
    if (one.places.size() > 40) {
      report::LineChart chart;
      chart.title = "Influence of " + one.mode;
      chart.x.label = one.mode;
      chart.series.push_back({one.mode, {}, one.effect});
      page.add_figure(chart);
    } else {
      report::BarChart chart;
      chart.title = "Influence of " + one.mode;
      chart.categories = one.places;
      chart.series.push_back({one.mode, one.effect, {}});
      page.add_figure(chart);
    }
    if (one.targets.size() < 2 || static_cast<int64_t>(one.targets.size()) > kLargestMap) continue;
    report::HeatMap map;
    map.title = fmt::format("Change of the output of each {} when one is occluded", one.mode);
    map.x_label = "occluded";
    map.y_label = "output of";
    map.value_label = "change";
    map.rows = std::ssize(one.targets);
    map.columns = std::ssize(one.places);
    map.values = one.matrix;
    map.min = 0;
    if (map.rows <= 24) map.row_labels = one.targets;
    if (map.columns <= 24) map.column_labels = one.places;
    page.add_figure(map);
  }
}

/// Figures of one layer and matrix: the mean over samples, then individual samples.
void add_maps(report::HtmlPage& page, const at::Tensor& maps, const std::string& title,
              const std::vector<std::string>& labels, const std::vector<std::string>& singles) {
  const int64_t n = maps.size(-1);
  if (n < 2) return;
  page.add_figure(attention_figure(maps.mean(0, true), title + ", mean over samples", labels));
  for (size_t i = 0; i < singles.size(); ++i)
    page.add_figure(
        attention_figure(maps.narrow(0, static_cast<int64_t>(i), 1), title + ", " + singles[i], labels));
}

/// Figures of texts: the matrix of each text over its own tokens.
void add_text_maps(report::HtmlPage& page, const Explanation& e) {
  for (size_t layer = 0; layer < e.attention.full.size(); ++layer)
    for (size_t i = 0; i < e.sample_labels.size(); ++i) {
      const int64_t n = std::ssize(e.sample_labels[i]);
      const std::string title = fmt::format("Layer {}, {}", layer + 1, e.sample_names[i]);
      const at::Tensor own =
          e.attention.full[layer].narrow(0, static_cast<int64_t>(i), 1).narrow(2, 0, n).narrow(3, 0, n);
      page.add_figure(attention_figure(own, title, e.sample_labels[i]));
    }
}

void add_attention(report::HtmlPage& page, const Explanation& e) {
  if (e.attention.maps.empty() && e.attention.full.empty()) {
    page.add_paragraph("The model has no attention matrices.");
    return;
  }
  page.add_section("Attention maps");
  const bool sums = rows_sum_to_one(e.attention.full) &&
                    std::ranges::all_of(e.attention.maps, [](const models::ModeMaps& layer) {
                      return rows_sum_to_one(layer.factors);
                    });
  page.add_paragraph(fmt::format(
      "Rows are queries, columns are keys{}. One panel per head. A map of more than 160 positions is drawn "
      "downsampled; explain.npz has all its weights.",
      sums ? "; rows sum to 1" : ""));
  for (size_t layer = 0; layer < e.attention.maps.size(); ++layer)
    for (size_t i = 0; i < e.attention.maps[layer].factors.size(); ++i) {
      const auto mode = static_cast<size_t>(e.attention.maps[layer].modes[i]);
      add_maps(page, e.attention.maps[layer].factors[i],
               fmt::format("Layer {}, {}", layer + 1, e.mode_names[mode]), e.labels[mode], e.sample_names);
    }
  if (!e.sample_labels.empty()) {
    add_text_maps(page, e);
    return;
  }
  for (size_t layer = 0; layer < e.attention.full.size(); ++layer)
    add_maps(page, e.attention.full[layer], fmt::format("Layer {}, all tokens", layer + 1), {},
             e.sample_names);
}

}  // namespace

std::vector<std::pair<int64_t, int64_t>> place_groups(int64_t size, int64_t maximum) {
  const int64_t groups = std::min(size, std::max<int64_t>(maximum, 1));
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t i = 0; i < groups; ++i) out.emplace_back(i * size / groups, (i + 1) * size / groups);
  return out;
}

Influence influence_of(const std::string& mode, int64_t size, int64_t thick, int64_t maximum,
                       const std::function<double(int64_t begin, int64_t end)>& effect) {
  Influence out;
  out.mode = mode;
  for (const auto& [first, last] : place_groups((size + thick - 1) / thick, maximum)) {
    const int64_t begin = first * thick, end = std::min(last * thick, size);
    out.places.push_back(end - begin == 1 ? std::to_string(begin) : fmt::format("{} … {}", begin, end - 1));
    out.effect.push_back(effect(begin, end));
  }
  return out;
}

report::Table rank_table(const Explanation& e) {
  const bool factors = !e.ranks.front().modes.empty();
  std::vector<report::Column> columns = {{"layer"}};
  for (const int64_t mode : e.ranks.front().modes)
    columns.push_back({e.mode_names[static_cast<size_t>(mode)]});
  if (factors)
    columns.insert(columns.end(), {{"product"}, {"sum"}});
  else
    columns.push_back({"all tokens"});
  report::Table table(columns);
  for (size_t layer = 0; layer < e.ranks.size(); ++layer) {
    const analysis::LayerRanks& ranks = e.ranks[layer];
    std::vector<std::vector<double>> heads = ranks.by_mode;
    if (factors)
      heads.insert(heads.end(), {ranks.product, ranks.sum});
    else
      heads.push_back(ranks.full);
    std::vector<Cell> cells = {layer + 1};
    for (const auto& one : heads) cells.emplace_back(mean(one), 2);
    table.add_row(std::move(cells));
  }
  return table;
}

Json explanation_json(const Explanation& e) {
  Json influences = Json::array(), facts = Json::object();
  for (const Influence& one : e.influences) {
    influences.push_back({{"mode", one.mode}, {"places", one.places}, {"effect", one.effect}});
    if (!one.targets.empty()) {
      influences.back()["targets"] = one.targets;
      influences.back()["matrix"] = one.matrix;
    }
  }
  for (const auto& [name, value] : e.facts) facts[name] = value;
  Json json = {{"title", e.title},
               {"facts", facts},
               {"modes", e.mode_names},
               {"combine", e.combine},
               {"stable_rank", ranks_json(e)},
               {"influence", influences},
               {"effect", e.effect_unit},
               {"removal", e.removal},
               {"samples", e.sample_names}};
  for (size_t i = 0; i < e.sample_labels.size(); ++i)
    json["texts"].push_back({{"name", e.sample_names[i]}, {"tokens", e.sample_labels[i]}});
  return json;
}

void write_explanation(const Explanation& e, const std::filesystem::path& folder) {
  const auto lenient = Json::error_handler_t::replace;
  write_file_atomically(folder / "explain.json", explanation_json(e).dump(1, ' ', false, lenient) + "\n");
  std::map<std::string, io::Array> arrays;
  const auto keep = [&](const std::string& name, const at::Tensor& maps) {
    if (e.sample_labels.empty()) arrays[name + "_mean"] = array_of(maps.mean(0));
    if (!e.sample_names.empty()) arrays[name] = array_of(maps.narrow(0, 0, std::ssize(e.sample_names)));
  };
  for (size_t layer = 0; layer < e.attention.maps.size(); ++layer)
    for (size_t i = 0; i < e.attention.maps[layer].factors.size(); ++i)
      keep(fmt::format("layer{}_{}", layer + 1,
                       plain_name(e.mode_names[static_cast<size_t>(e.attention.maps[layer].modes[i])])),
           e.attention.maps[layer].factors[i]);
  for (size_t layer = 0; layer < e.attention.full.size(); ++layer)
    keep(fmt::format("layer{}_full", layer + 1), e.attention.full[layer]);
  for (const Influence& one : e.influences)
    arrays["influence_" + plain_name(one.mode)] =
        io::make_array({std::ssize(one.effect)}, std::span<const double>(one.effect));
  if (!e.sample_labels.empty()) {
    std::vector<int64_t> lengths;
    for (const auto& tokens : e.sample_labels) lengths.push_back(std::ssize(tokens));
    arrays["lengths"] = io::make_array({std::ssize(lengths)}, std::span<const int64_t>(lengths));
  }
  io::write_npz((folder / "explain.npz").string(), arrays);
  report::HtmlPage page(e.title, e.subtitle);
  for (const auto& [name, value] : e.facts) page.add_fact(name, value);
  add_ranks(page, e);
  add_influences(page, e);
  add_tables(page, e.tables);
  add_attention(page, e);
  page.write(folder / "explain.html");
}

}  // namespace modewise::tasks
