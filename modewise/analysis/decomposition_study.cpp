#include "modewise/analysis/decomposition_study.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_svdvals.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/analysis/one_thread.h"
#include "modewise/analysis/tensor_decompositions.h"
#include "modewise/core/error.h"

namespace modewise::analysis {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

std::vector<double> doubles(const at::Tensor& values) {
  const at::Tensor plain = values.to(at::kDouble).contiguous();
  return {plain.const_data_ptr<double>(), plain.const_data_ptr<double>() + plain.numel()};
}

/// Values relative to the largest, and the information of the first 1, 2, 3 … terms, for orthogonal terms.
void fill_from_orthogonal(Spectrum& spectrum, const std::vector<double>& values) {
  double all = 0, kept = 0;
  for (const double v : values) all += v * v;
  for (size_t i = 0; i < values.size(); ++i) {
    kept += values[i] * values[i];
    spectrum.ranks.push_back(static_cast<int64_t>(i) + 1);
    spectrum.values.push_back(values[0] > 0 ? values[i] / values[0] : 0);
    spectrum.information.push_back(all > 0 ? kept / all : 1);
  }
}

Spectrum vector_spectrum(const at::Tensor& matrix) {
  const OneThread one_thread;
  Spectrum out{"vector", {}, matrix.size(0) + matrix.size(1), {}, {}, {}};
  fill_from_orthogonal(out, doubles(at::linalg_svdvals(matrix)));
  return out;
}

Spectrum tensor_spectrum(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                         const std::vector<KroneckerDecomposition>& path) {
  Spectrum out{space_name(modes), modes, 0, {}, {}, {}};
  for (const int64_t n : modes) out.term_parameters += n * n;
  if (modes.size() == 2) {
    const OneThread one_thread;
    fill_from_orthogonal(out, doubles(at::linalg_svdvals(rearranged(matrix, modes, modes))));
    return out;
  }
  out.values = doubles(path.back().weights);
  const double first = out.values.front();
  for (double& v : out.values) v = first > 0 ? v / first : 0;
  for (const KroneckerDecomposition& one : path) {
    if (!out.ranks.empty() && out.ranks.back() == one.rank()) continue;
    out.ranks.push_back(one.rank());
    out.information.push_back(1 - one.error * one.error);
  }
  return out;
}

/// Checks the matrix against the modes and converts it to float64.
at::Tensor checked_matrix(const at::Tensor& input, const std::vector<int64_t>& modes) {
  at::Tensor matrix = input.to(at::kDouble).contiguous();
  rearranged(matrix, modes, modes);  // throws if sizes do not match
  require(at::isfinite(matrix).all().item<bool>(), ErrorKind::data, "the matrix has non-finite values");
  return matrix;
}

/// Foldings of order 2, 3 … up to `modes`, then `more`, without duplicates.
std::vector<std::vector<int64_t>> spaces_of(int64_t tokens, const std::vector<int64_t>& modes,
                                            const std::vector<std::vector<int64_t>>& more) {
  std::vector<std::vector<int64_t>> all, out;
  for (int64_t order = 2; order < std::ssize(modes); ++order) all.push_back(merged_modes(modes, order));
  if (modes.size() > 1) all.push_back(modes);
  all.insert(all.end(), more.begin(), more.end());
  for (const std::vector<int64_t>& space : all) {
    require(space.size() > 1, ErrorKind::usage, "a space has two sizes or more, got {}",
            fmt::join(space, ", "));
    require(std::accumulate(space.begin(), space.end(), int64_t{1}, std::multiplies<>()) == tokens,
            ErrorKind::usage, "the sizes {} do not multiply to {} rows", space_name(space), tokens);
    if (std::find(out.begin(), out.end(), space) == out.end()) out.push_back(space);
  }
  return out;
}

double number(const std::vector<double>& values, size_t i) {
  return i < values.size() ? values[i] : std::numeric_limits<double>::quiet_NaN();
}

Json errors_json(const std::vector<FormError>& errors) {
  Json out = Json::array();
  for (const FormError& one : errors)
    out.push_back({{"rank", one.rank}, {"parameters", one.parameters}, {"error", one.error}});
  return out;
}

Json terms_json(const Spectrum& space, double share) {
  const std::optional<int64_t> terms = terms_for(space, share);
  return terms ? Json(*terms) : Json();
}

struct NamedForm {
  const char* name;
  const std::vector<FormError>* errors;
};
std::vector<NamedForm> forms_of(const DecompositionStudy& study) {
  return {{"Kronecker (CP)", &study.kronecker},
          {"Tucker", &study.tucker},
          {"tensor train", &study.train},
          {"singular values", &study.vector}};
}

report::LineChart form_chart(const DecompositionStudy& study, bool against_parameters) {
  report::LineChart chart;
  chart.title = against_parameters ? "Error against parameters" : "Error against rank";
  chart.x = {against_parameters ? "parameters" : "rank", report::AxisScale::log, {}, {}};
  chart.y = {"relative error", report::AxisScale::linear, 0, {}};
  for (const NamedForm& type : forms_of(study)) {
    report::LineSeries curve;
    curve.label = type.name;
    for (const FormError& one : *type.errors) {
      const auto x = static_cast<double>(against_parameters ? one.parameters : one.rank);
      if (!curve.x.empty() && x <= curve.x.back()) continue;  // ranks limited by the sizes
      curve.x.push_back(x);
      curve.y.push_back(one.error);
    }
    chart.series.push_back(std::move(curve));
  }
  return chart;
}

}  // namespace

std::string space_name(const std::vector<int64_t>& modes) {
  return modes.size() < 2 ? "vector" : fmt::format("{}", fmt::join(modes, " × "));
}

std::vector<int64_t> ranks_up_to(int64_t largest) {
  std::vector<int64_t> ranks;
  for (int64_t rank = 1; rank < largest; rank += std::max<int64_t>(1, rank / 8 * 2)) ranks.push_back(rank);
  ranks.push_back(largest);
  return ranks;
}

std::vector<int64_t> merged_modes(const std::vector<int64_t>& modes, int64_t order) {
  const auto k = static_cast<unsigned>(modes.size());
  std::vector<int64_t> best;
  for (unsigned cuts = 0; cuts < (1u << (k - 1)); ++cuts) {  // bit i: a new group begins after mode i
    std::vector<int64_t> groups = {modes.front()};
    for (unsigned i = 1; i < k; ++i) {
      if ((cuts >> (i - 1) & 1) != 0)
        groups.push_back(modes[i]);
      else
        groups.back() *= modes[i];
    }
    if (std::ssize(groups) != order) continue;
    if (best.empty() ||
        *std::max_element(groups.begin(), groups.end()) < *std::max_element(best.begin(), best.end()))
      best = groups;
  }
  return best;
}

std::optional<int64_t> terms_for(const Spectrum& spectrum, double share) {
  for (size_t i = 0; i < spectrum.ranks.size(); ++i)
    if (spectrum.information[i] >= share) return spectrum.ranks[i];
  return {};
}

std::vector<Spectrum> study_spectra(const at::Tensor& input, const std::vector<int64_t>& modes,
                                    const StudyOptions& options) {
  const at::Tensor matrix = checked_matrix(input, modes);
  std::vector<Spectrum> out = {vector_spectrum(matrix)};
  for (const std::vector<int64_t>& space : spaces_of(matrix.size(0), modes, options.spaces)) {
    std::vector<KroneckerDecomposition> path;
    if (space.size() > 2)
      path = kronecker_decompositions(matrix, space, ranks_up_to(options.rank), options.canonical,
                                      std::sqrt(1 - 0.99));
    out.push_back(tensor_spectrum(matrix, space, path));
  }
  return out;
}

DecompositionStudy study_decomposition(const at::Tensor& input, const std::vector<int64_t>& modes,
                                       const StudyOptions& options) {
  DecompositionStudy study;
  study.modes = modes;
  study.ranks = ranks_up_to(options.rank);
  const at::Tensor matrix = checked_matrix(input, modes);
  const at::Tensor tensor = rearranged(matrix, modes, modes);
  study.tokens = matrix.size(0);
  const auto path = kronecker_decompositions(matrix, modes, study.ranks, options.canonical);
  study.spectra.push_back(vector_spectrum(matrix));
  for (size_t i = 0; i < study.ranks.size(); ++i) {
    const int64_t rank = study.ranks[i];
    study.kronecker.push_back({rank, path[i].parameters(), path[i].error});
    const TuckerDecomposition tucker = tucker_decomposition(tensor, rank);
    study.tucker.push_back({rank, tucker.parameters(), tucker.error});
    const TensorTrain train = tensor_train(tensor, rank);
    study.train.push_back({rank, train.parameters(), train.error});
    const Spectrum& vector = study.spectra.front();
    const auto terms = static_cast<size_t>(std::min<int64_t>(rank, std::ssize(vector.values)));
    study.vector.push_back({rank, static_cast<int64_t>(terms) * vector.term_parameters,
                            std::sqrt(std::max(0.0, 1 - vector.information[terms - 1]))});
  }
  study.largest = path.back();
  for (const std::vector<int64_t>& space : spaces_of(study.tokens, modes, options.spaces))
    study.spectra.push_back(
        tensor_spectrum(matrix, space,
                        space == modes || space.size() == 2
                            ? path
                            : kronecker_decompositions(matrix, space, study.ranks, options.canonical)));
  return study;
}

report::Table spectra_table(const std::vector<Spectrum>& spectra) {
  report::Table table({{"space"},
                       {"parameters per term"},
                       {"terms for 90 %"},
                       {"parameters for 90 %"},
                       {"terms for 99 %"},
                       {"parameters for 99 %"}});
  for (const Spectrum& space : spectra) {
    std::vector<Cell> cells = {space.name, space.term_parameters};
    for (const double share : {0.9, 0.99}) {
      const std::optional<int64_t> terms = terms_for(space, share);
      cells.push_back(terms ? Cell(*terms) : Cell(fmt::format("> {}", space.ranks.back())));
      cells.push_back(terms ? Cell(*terms * space.term_parameters) : Cell(std::nan(""), 0));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

report::Table study_table(const DecompositionStudy& study) {
  std::vector<report::Column> columns = {{"rank"}};
  for (const NamedForm& type : forms_of(study)) {
    columns.push_back({type.name});
    columns.push_back({"parameters"});
  }
  report::Table table(columns);
  for (size_t i = 0; i < study.ranks.size(); ++i) {
    std::vector<Cell> cells = {study.ranks[i]};
    for (const NamedForm& type : forms_of(study)) {
      cells.emplace_back((*type.errors)[i].error, 6);
      cells.emplace_back((*type.errors)[i].parameters);
    }
    table.add_row(std::move(cells));
  }
  return table;
}

report::Table study_lines(const DecompositionStudy& study) {
  report::Table table({{"form"}, {"rank"}, {"parameters"}, {"error"}, {"information"}, {"singular_value"}});
  for (const NamedForm& type : forms_of(study))
    for (const FormError& one : *type.errors)
      table.add_row({type.name, one.rank, one.parameters, Cell(one.error, 8),
                     Cell(1 - one.error * one.error, 8), Cell(std::nan(""), 8)});
  for (const Spectrum& space : study.spectra) {
    // High ranks are decomposed in steps: the others have a singular value alone.
    const int64_t last = std::max(std::ssize(space.values), space.ranks.empty() ? 0 : space.ranks.back());
    for (int64_t rank = 1; rank <= last; ++rank) {
      const auto found = std::ranges::lower_bound(space.ranks, rank);
      const bool known = found != space.ranks.end() && *found == rank;
      const double information =
          known ? space.information[static_cast<size_t>(found - space.ranks.begin())] : std::nan("");
      table.add_row({"space " + space.name, rank, rank * space.term_parameters,
                     Cell(known ? std::sqrt(std::max(0.0, 1 - information)) : std::nan(""), 8),
                     Cell(information, 8), Cell(number(space.values, static_cast<size_t>(rank) - 1), 8)});
    }
  }
  return table;
}

Json study_json(const DecompositionStudy& study) {
  Json spectra = Json::array();
  for (const Spectrum& space : study.spectra)
    spectra.push_back({{"space", space.name},
                       {"modes", space.modes},
                       {"order", space.modes.empty() ? 1 : std::ssize(space.modes)},
                       {"parameters_a_term", space.term_parameters},
                       {"singular_values", space.values},
                       {"ranks", space.ranks},
                       {"information", space.information},
                       {"terms_90", terms_json(space, 0.9)},
                       {"terms_99", terms_json(space, 0.99)}});
  return {{"modes", study.modes},
          {"tokens", study.tokens},
          {"exact_rank", exact_rank(study.modes)},
          {"kronecker", errors_json(study.kronecker)},
          {"tucker", errors_json(study.tucker)},
          {"tensor_train", errors_json(study.train)},
          {"vector", errors_json(study.vector)},
          {"weights", doubles(study.largest.weights)},
          {"spectra", spectra}};
}

std::vector<report::CaptionedFigure> study_figures(const DecompositionStudy& study) {
  report::LineChart spectrum, information;
  spectrum.title = "Singular values";
  spectrum.x = {"term", report::AxisScale::log, {}, {}};
  spectrum.y = {"relative to the largest", report::AxisScale::linear, 0, 1};
  information.title = "Information against parameters";
  information.x = {"parameters", report::AxisScale::log, {}, {}};
  information.y = {"fraction of ‖A‖²", report::AxisScale::linear, 0, 1};
  for (const Spectrum& space : study.spectra) {
    report::LineSeries values, kept;
    values.label = kept.label = space.name + (space.modes.empty() ? " space" : "");
    for (size_t i = 0; i < space.values.size(); ++i) {
      values.x.push_back(static_cast<double>(i) + 1);
      values.y.push_back(space.values[i]);
    }
    for (size_t i = 0; i < space.ranks.size(); ++i) {
      kept.x.push_back(static_cast<double>(space.ranks[i] * space.term_parameters));
      kept.y.push_back(space.information[i]);
    }
    spectrum.series.push_back(std::move(values));
    information.series.push_back(std::move(kept));
  }
  return {
      {form_chart(study, false), ""},
      {form_chart(study, true), ""},
      {spectrum,
       "Vector space: singular values of the matrix. Tensor spaces: weights of its Kronecker terms."},
      {information,
       "1 − squared relative error; a term has 2N parameters in vector space, Σ N_i² in a tensor space."}};
}

}  // namespace modewise::analysis
