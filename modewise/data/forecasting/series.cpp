#include "modewise/data/forecasting/series.h"

#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

constexpr size_t kMaxNamed = 5;  // labels listed in an error before "and n more"

std::string list_text(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNamed);
  std::string text =
      fmt::format("'{}'", fmt::join(names.begin(), names.begin() + static_cast<int64_t>(shown), "', '"));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Labels of `a` that are not in `b`.
std::vector<std::string> missing_from(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::unordered_map<std::string, int64_t> have;
  for (const std::string& label : b) ++have[label];
  std::vector<std::string> missing;
  for (const std::string& label : a)
    if (auto found = have.find(label); found == have.end() || found->second-- == 0) missing.push_back(label);
  return missing;
}

/// The mask, undefined if nothing is masked.
at::Tensor mask_or_none(const at::Tensor& observed) {
  return observed.all().item<bool>() ? at::Tensor() : observed.contiguous();
}

}  // namespace

std::string SeriesMode::text() const {
  std::string noun = name;
  const char last = noun.empty() ? '\0' : noun.back();
  const bool letter = (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
  if (labels.size() != 1 && letter && last != 's' && last != 'S') {
    const bool ies = last == 'y' && noun.size() > 1 &&
                     std::string_view("aeiou").find(noun[noun.size() - 2]) == std::string_view::npos;
    if (ies) noun.pop_back();
    noun += ies ? "ies" : "s";
  }
  return fmt::format("{} {}", labels.size(), noun);
}

std::string modes_text(const std::vector<SeriesMode>& modes) {
  std::vector<std::string> texts;
  for (const SeriesMode& mode : modes) texts.push_back(mode.text());
  return fmt::format("{}", fmt::join(texts, " × "));
}

std::vector<int64_t> Series::shape() const {
  return values.sizes().slice(1).vec();
}

int64_t Series::series_count() const {
  int64_t count = 1;
  for (const int64_t size : values.sizes().slice(1)) count *= size;
  return count;
}

int64_t Series::missing_cells() const {
  if (!observed.defined()) return 0;
  const bool* cells = observed.const_data_ptr<bool>();
  return std::count(cells, cells + observed.numel(), false);
}

std::string Series::series_name(int64_t index) const {
  std::vector<std::string> parts(modes.size());
  for (size_t mode = modes.size(); mode-- > 0;) {
    const auto size = static_cast<int64_t>(modes[mode].labels.size());
    parts[mode] = modes[mode].labels[static_cast<size_t>(index % size)];
    index /= size;
  }
  return fmt::format("{}", fmt::join(parts, " / "));
}

std::string Series::where(int64_t row, int64_t index) const {
  if (place) return place(row, index);
  return fmt::format("{}: row {}, '{}'", source, row + 1, series_name(index));
}

Series with_positions(Series series, const std::vector<size_t>& positions) {
  SeriesMode& mode = series.modes.back();
  if (series.place)
    series.place = [inner = std::move(series.place), positions, width = std::ssize(mode.labels)](
                       int64_t row, int64_t index) {
      const auto count = std::ssize(positions), at = index % count;
      return inner(row, index / count * width + static_cast<int64_t>(positions[static_cast<size_t>(at)]));
    };
  std::vector<std::string> labels;
  for (const size_t at : positions) labels.push_back(mode.labels[at]);
  mode.labels = std::move(labels);
  const at::Tensor kept = at::tensor(std::vector<int64_t>(positions.begin(), positions.end()), at::kLong);
  series.values = series.values.index_select(-1, kept).contiguous();
  if (series.observed.defined()) series.observed = mask_or_none(series.observed.index_select(-1, kept));
  return series;
}

Series first_rows(Series series, int64_t rows) {
  series.values = series.values.narrow(0, 0, rows).clone();
  series.time.length = rows;
  if (series.observed.defined()) series.observed = mask_or_none(series.observed.narrow(0, 0, rows).clone());
  if (series.known) series.known = std::make_shared<const Series>(first_rows(*series.known, rows));
  return series;
}

int64_t end_at_last_value(Series& series) {
  if (!series.observed.defined()) return 0;
  const bool* cells = series.observed.const_data_ptr<bool>();
  int64_t last = series.observed.numel();
  while (last > 0 && !cells[last - 1]) --last;
  require(last > 0, ErrorKind::data, "{}: all values of the variables to forecast are missing",
          series.source);
  const int64_t rows = (last - 1) / series.series_count() + 1, after = series.rows() - rows;
  if (after > 0) series = first_rows(std::move(series), rows);
  return after;
}

nlohmann::json to_json(const std::vector<SeriesMode>& modes) {
  nlohmann::json json = nlohmann::json::array();
  for (const SeriesMode& mode : modes)
    json.push_back({{"name", mode.name}, {"ordered", mode.ordered}, {"labels", mode.labels}});
  return json;
}

std::vector<SeriesMode> modes_from_json(const nlohmann::json& json, const std::string& source) {
  std::vector<SeriesMode> modes;
  try {
    for (const nlohmann::json& mode : json)
      modes.push_back({mode.at("name").get<std::string>(), mode.at("labels").get<std::vector<std::string>>(),
                       mode.at("ordered").get<bool>()});
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: expected a list of modes with name, ordered and labels: {}", source,
         error.what());
  }
  require(!modes.empty(), ErrorKind::data, "{}: expected at least one mode", source);
  return modes;
}

void require_same_modes(const std::vector<SeriesMode>& run, const Series& series) {
  require(run.size() == series.modes.size(), ErrorKind::data, "{}: the run was trained on {}, this is {}",
          series.source, modes_text(run), modes_text(series.modes));
  for (size_t mode = 0; mode < run.size(); ++mode) {
    const std::vector<std::string>&wanted = run[mode].labels, &have = series.modes[mode].labels;
    if (wanted == have) continue;
    const std::string& name = run[mode].name;
    const auto absent = missing_from(wanted, have), extra = missing_from(have, wanted);
    std::vector<std::string> problems;
    if (!absent.empty()) problems.push_back(fmt::format("{} missing", list_text(absent)));
    if (!extra.empty()) problems.push_back(fmt::format("{} unknown to the run", list_text(extra)));
    if (problems.empty()) {
      const auto differ = std::mismatch(wanted.begin(), wanted.end(), have.begin());
      problems.push_back(fmt::format("another order, first at position {} ('{}' in the run, '{}' here)",
                                     differ.first - wanted.begin() + 1, *differ.first, *differ.second));
    }
    fail(ErrorKind::data, "{}: the {}s differ from the run's ({} there, {} here): {}", series.source, name,
         wanted.size(), have.size(), fmt::join(problems, "; "));
  }
}

}  // namespace modewise::data
