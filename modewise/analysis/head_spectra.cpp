#include "modewise/analysis/head_spectra.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/random.h"

namespace modewise::analysis {
namespace {

using report::Cell;

constexpr double kShares[] = {0.9, 0.99};

struct Quartiles {
  double lower, middle, upper;
};

/// Quartiles by linear interpolation, as NumPy.
Quartiles quartiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    const double part = place - static_cast<double>(below);
    return part == 0 ? values[below] : values[below] + part * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// Integers without decimals, halves with one.
Cell count_cell(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? Cell(whole) : Cell(value, 1);
}

void add_terms(std::vector<Cell>& cells, const Spectrum& space, std::optional<double> terms) {
  cells.push_back(terms ? count_cell(*terms) : Cell(fmt::format("> {}", space.ranks.back())));
  cells.push_back(terms ? count_cell(*terms * static_cast<double>(space.term_parameters)) : Cell("–"));
}

void add_head(report::Table& table, std::vector<Cell> cells, const HeadSpectra& one) {
  cells.emplace_back(one.stable_rank, 2);
  for (const Spectrum& space : one.spectra)
    for (const double share : kShares) {
      const std::optional<int64_t> terms = terms_for(space, share);
      add_terms(cells, space, terms ? std::optional(static_cast<double>(*terms)) : std::nullopt);
    }
  table.add_row(std::move(cells));
}

void add_median(report::Table& table, const std::vector<HeadSpectra>& heads) {
  std::vector<double> ranks;
  for (const HeadSpectra& one : heads) ranks.push_back(one.stable_rank);
  std::vector<Cell> cells = {"median", "", Cell(quartiles_of(ranks).middle, 2)};
  for (size_t s = 0; s < heads.front().spectra.size(); ++s)
    for (const double share : kShares) {
      std::vector<double> all;
      for (const HeadSpectra& one : heads) {
        const std::optional<int64_t> terms = terms_for(one.spectra[s], share);
        all.push_back(terms ? static_cast<double>(*terms) : std::numeric_limits<double>::infinity());
      }
      const double middle = quartiles_of(all).middle;
      add_terms(cells, heads.front().spectra[s],
                middle < std::numeric_limits<double>::infinity() ? std::optional(middle) : std::nullopt);
    }
  table.add_row(std::move(cells));
}

using Curve = std::vector<double>;

/// Median and interquartile range of the curves at each x. Shorter curves are extended by their last value.
report::LineSeries middle_of(const std::vector<const Curve*>& curves, const Curve& x) {
  report::LineSeries out;
  out.x = x;
  report::Band band;
  for (size_t i = 0; i < x.size(); ++i) {
    std::vector<double> values;
    for (const Curve* curve : curves) values.push_back((*curve)[std::min(i, curve->size() - 1)]);
    const Quartiles q = quartiles_of(values);
    out.y.push_back(q.middle);
    band.lower.push_back(q.lower);
    band.upper.push_back(q.upper);
  }
  if (curves.size() > 1) out.bands.push_back(std::move(band));
  return out;
}

/// Spectrum and information curves of one space.
struct Curves {
  report::LineSeries values, kept;
};
Curves curves_of(const std::vector<HeadSpectra>& heads, size_t space) {
  std::vector<const Curve*> values, information;
  Curve terms, numbers;
  for (const HeadSpectra& one : heads) {
    const Spectrum& spectrum = one.spectra[space];
    values.push_back(&spectrum.values);
    information.push_back(&spectrum.information);
    for (size_t i = terms.size(); i < spectrum.values.size(); ++i)
      terms.push_back(static_cast<double>(i) + 1);
    for (size_t i = numbers.size(); i < spectrum.ranks.size(); ++i)
      numbers.push_back(static_cast<double>(spectrum.ranks[i] * spectrum.term_parameters));
  }
  return {middle_of(values, terms), middle_of(information, numbers)};
}

}  // namespace

at::Tensor random_attention_like(const at::Tensor& matrix, uint64_t seed) {
  at::Tensor logits = at::empty(matrix.sizes(), at::kDouble);
  const RandomStream stream{seed, RandomSite::simulation, 0};
  auto* values = logits.mutable_data_ptr<double>();
  for (int64_t i = 0; i < logits.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  const at::Tensor hidden = matrix == 0;
  logits.masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  return at::softmax(logits, -1).masked_fill_(hidden.all(-1, true), 0);
}

report::Table heads_table(const std::vector<HeadSpectra>& heads, const HeadSpectra& random) {
  std::vector<report::Column> columns = {{"layer"}, {"head"}, {"stable rank"}};
  for (const Spectrum& space : heads.front().spectra)
    for (const char* what : {"90 %", "parameters", "99 %", "parameters"})
      columns.push_back({what[0] == '9' ? fmt::format("{}: {}", space.name, what) : what});
  report::Table table(columns);
  for (const HeadSpectra& one : heads) add_head(table, {one.layer + 1, one.head + 1}, one);
  if (heads.size() > 1) add_median(table, heads);
  add_head(table, {"random", ""}, random);
  return table;
}

nlohmann::ordered_json heads_json(const std::vector<HeadSpectra>& heads) {
  using Json = nlohmann::ordered_json;
  Json out = Json::array();
  for (const HeadSpectra& one : heads) {
    Json spectra = Json::array();
    for (const Spectrum& space : one.spectra) {
      const auto terms = [&](double share) {
        const std::optional<int64_t> found = terms_for(space, share);
        return found ? Json(*found) : Json();
      };
      spectra.push_back({{"space", space.name},
                         {"parameters_a_term", space.term_parameters},
                         {"terms_90", terms(kShares[0])},
                         {"terms_99", terms(kShares[1])}});
    }
    out.push_back({{"layer", one.layer + 1},
                   {"head", one.head + 1},
                   {"stable_rank", one.stable_rank},
                   {"spectra", spectra}});
  }
  return out;
}

std::vector<report::CaptionedFigure> heads_figures(const std::vector<HeadSpectra>& heads,
                                                   const HeadSpectra& random) {
  report::LineChart spectrum, information;
  spectrum.title = "Singular values";
  spectrum.x = {"term", report::AxisScale::log, {}, {}};
  spectrum.y = {"relative to the largest", report::AxisScale::linear, 0, 1};
  information.title = "Information against parameters";
  information.x = {"parameters", report::AxisScale::log, {}, {}};
  information.y = {"fraction of ‖A‖²", report::AxisScale::linear, 0, 1};
  for (size_t s = 0; s < random.spectra.size(); ++s) {
    for (const bool drawn : {false, true}) {
      Curves curves = curves_of(drawn ? std::vector{random} : heads, s);
      for (report::LineSeries* series : {&curves.values, &curves.kept}) {
        series->label = random.spectra[s].name + (drawn ? ", random" : "");
        series->color = static_cast<int>(s);
        if (drawn) series->style = report::LineSeries::Style::dashed;
      }
      spectrum.series.push_back(std::move(curves.values));
      information.series.push_back(std::move(curves.kept));
    }
  }
  return {{spectrum, "Median and interquartile range over the heads; dashed: a random matrix."},
          {information, "The same; 1 − squared relative error."}};
}

}  // namespace modewise::analysis
