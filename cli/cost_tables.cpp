#include "cli/cost_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

std::string giga_text(double value) {
  return value < 1e10 ? fmt::format("{:.2f} G", value / 1e9) : fmt::format("{:.1f} G", value / 1e9);
}
std::string mebi_text(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
}
Cell giga_cell(double value) {
  return Cell::number(value, giga_text(value));
}
Cell mebi_cell(double bytes) {
  return Cell::number(bytes, mebi_text(bytes));
}

Json parts_json(const std::vector<analysis::CostPart>& parts) {
  Json out = Json::array();
  for (const analysis::CostPart& part : parts)
    out.push_back(
        {{"name", part.name}, {"parameters", part.parameters}, {"multiply_adds", part.multiply_adds}});
  return out;
}

/// One curve a mechanism over the number of tokens.
template <class Value>
report::LineChart chart(const std::vector<CostEntry>& entries, const std::string& title,
                        const std::string& label, const Value& value) {
  report::LineChart out;
  out.title = title;
  out.x = {"tokens", report::AxisScale::log, {}, {}};
  out.y = {label, report::AxisScale::log, {}, {}};
  for (const CostEntry& entry : entries) {
    const std::optional<double> y = value(entry);
    if (!y) continue;
    if (out.series.empty() || out.series.back().label != entry.mechanism->title)
      out.series.push_back({entry.mechanism->title, {}, {}});
    out.series.back().x.push_back(entry.tokens());
    out.series.back().y.push_back(*y);
  }
  return out;
}

report::BarChart bars(const std::vector<CostEntry>& entries, const std::string& title,
                      double analysis::MeasuredCost::*value, double factor) {
  report::BarChart out;
  out.title = title;
  report::BarSeries series;
  for (const CostEntry& entry : entries) {
    if (!entry.measured || entry.size != entries.front().size) continue;
    out.categories.emplace_back(entry.mechanism->title);
    series.values.push_back((*entry.measured).*value * factor);
  }
  out.series.push_back(std::move(series));
  return out;
}

using Measured = analysis::MeasuredCost;

}  // namespace

report::Table cost_table(const std::vector<CostEntry>& entries) {
  report::Table table({{"attention"},
                       {"size"},
                       {"tokens"},
                       {"parameters"},
                       {"multiply-adds"},
                       {"linear maps and all-token attention"},
                       {"printed"},
                       {"activations kept"}});
  for (const CostEntry& entry : entries) {
    const bool printed = entry.mechanism->printed && entry.paper_model;
    table.add_row({entry.mechanism->title, size_text(entry.size), static_cast<int64_t>(entry.tokens()),
                   entry.cost.parameters(), giga_cell(entry.cost.multiply_adds()),
                   giga_cell(entry.partial_count),
                   printed ? Cell(fmt::format("{:.2f} G", *entry.mechanism->printed)) : Cell(""),
                   mebi_cell(entry.cost.activation_bytes)});
  }
  return table;
}

report::Table measured_table(const std::vector<CostEntry>& entries) {
  report::Table table({{"attention"},
                       {"tokens"},
                       {"training ms"},
                       {"inference ms"},
                       {"training memory"},
                       {"inference memory"}});
  for (const CostEntry& entry : entries)
    if (entry.measured)
      table.add_row({entry.mechanism->title, static_cast<int64_t>(entry.tokens()),
                     Cell(1e3 * entry.measured->training_seconds, 2),
                     Cell(1e3 * entry.measured->inference_seconds, 2),
                     mebi_cell(entry.measured->training_bytes), mebi_cell(entry.measured->inference_bytes)});
  return table;
}

report::Table growth_table(const std::vector<CostGrowth>& growth) {
  report::Table table({{"attention"},
                       {"training"},
                       {"two largest"},
                       {"inference"},
                       {"two largest"},
                       {"sizes"},
                       {"largest, tokens"}});
  for (const CostGrowth& one : growth)
    table.add_row({one.title, Cell(one.training, 2), Cell(one.training_end, 2), Cell(one.inference, 2),
                   Cell(one.inference_end, 2), one.points, static_cast<int64_t>(one.largest)});
  return table;
}

report::Table parts_table(const CostEntry& entry, bool layers) {
  std::vector<report::Column> columns = {{"part"}, {"parameters"}, {"multiply-adds"}};
  if (layers) columns.insert(columns.begin(), {"layer"});
  report::Table table(columns);
  const auto add = [&](const std::string& layer, const std::vector<analysis::CostPart>& parts) {
    for (const analysis::CostPart& part : parts) {
      std::vector<Cell> cells = {
          part.name, part.parameters,
          Cell::number(part.multiply_adds, fmt::format("{:.2f} M", part.multiply_adds / 1e6))};
      if (layers) cells.insert(cells.begin(), layer);
      table.add_row(std::move(cells));
    }
  };
  if (!layers)
    add("", entry.cost.parts);
  else
    for (const analysis::LayerCost& layer : entry.cost.layers) add(layer.name, layer.parts);
  return table;
}

Json cost_json(const std::vector<CostEntry>& entries) {
  Json out = Json::array();
  for (const CostEntry& entry : entries) {
    Json layers = Json::array();
    for (const analysis::LayerCost& layer : entry.cost.layers)
      layers.push_back({{"name", layer.name},
                        {"parameters", layer.parameters()},
                        {"multiply_adds", layer.multiply_adds()},
                        {"activation_bytes", layer.activation_bytes},
                        {"parts", parts_json(layer.parts)}});
    out.push_back({{"mechanism", entry.mechanism->name},
                   {"size", entry.size},
                   {"tokens", entry.cost.tokens},
                   {"parameters", entry.cost.parameters()},
                   {"multiply_adds", entry.cost.multiply_adds()},
                   {"linear_and_all_token", entry.partial_count},
                   {"activation_bytes", entry.cost.activation_bytes},
                   {"parts", parts_json(entry.cost.parts)},
                   {"layers", layers}});
    if (entry.measured)
      out.back()["measured"] = {{"training_seconds", entry.measured->training_seconds},
                                {"inference_seconds", entry.measured->inference_seconds},
                                {"training_bytes", entry.measured->training_bytes},
                                {"inference_bytes", entry.measured->inference_bytes},
                                {"repeats", entry.measured->repeats}};
  }
  Json growth = Json::array();
  for (const CostGrowth& one : growth_of(entries))
    growth.push_back({{"mechanism", one.title},
                      {"training", one.training},
                      {"training_two_largest", one.training_end},
                      {"inference", one.inference},
                      {"inference_two_largest", one.inference_end}});
  return {{"entries", out}, {"growth_exponents", growth}};
}

std::vector<std::pair<std::string, report::Figure>> cost_figures(const std::vector<CostEntry>& entries) {
  std::vector<std::pair<std::string, report::Figure>> out;
  const bool several = std::any_of(entries.begin(), entries.end(),
                                   [&](const CostEntry& e) { return e.size != entries.front().size; });
  const auto measured = [](double Measured::*value, double factor) {
    return [=](const CostEntry& e) {
      return e.measured ? std::optional((*e.measured).*value * factor) : std::nullopt;
    };
  };
  if (several)
    out.emplace_back("multiply_adds", chart(entries, "Multiply-adds a sample", "G", [](const CostEntry& e) {
                       return std::optional(e.cost.multiply_adds() / 1e9);
                     }));
  const bool any =
      std::any_of(entries.begin(), entries.end(), [](const CostEntry& e) { return e.measured.has_value(); });
  if (!any) return out;
  if (several) {
    out.emplace_back("training_time",
                     chart(entries, "Training, a sample", "ms", measured(&Measured::training_seconds, 1e3)));
    out.emplace_back("inference_time", chart(entries, "Inference, a sample", "ms",
                                             measured(&Measured::inference_seconds, 1e3)));
    out.emplace_back("training_memory", chart(entries, "Memory in training, a sample", "MiB",
                                              measured(&Measured::training_bytes, 0x1p-20)));
  } else {
    out.emplace_back("training_time",
                     bars(entries, "Training, ms a sample", &Measured::training_seconds, 1e3));
    out.emplace_back("inference_time",
                     bars(entries, "Inference, ms a sample", &Measured::inference_seconds, 1e3));
    out.emplace_back("training_memory",
                     bars(entries, "Memory in training, MiB a sample", &Measured::training_bytes, 0x1p-20));
    out.emplace_back("inference_memory",
                     bars(entries, "Memory in inference, MiB a sample", &Measured::inference_bytes, 0x1p-20));
  }
  return out;
}

}  // namespace modewise::cli
