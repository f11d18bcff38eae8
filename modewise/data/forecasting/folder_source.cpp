#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/folder.h"
#include "modewise/core/name_index.h"
#include "modewise/data/forecasting/sources.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> csv_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  while (error == std::errc::interrupted) entry = fs::directory_iterator(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string extension = lower_extension(entry->path());
    if (extension == ".csv" && !is_system_file(entry->path()))
      files.push_back(require_utf8(entry->path()).string());
  }
  require(!error, ErrorKind::no_input, "cannot list the folder {}: {}", folder, error.message());
  require(!files.empty(), ErrorKind::no_input, "{}: expected a folder with files named *.csv, found none",
          folder);
  std::sort(files.begin(), files.end());
  return files;
}

bool is_separator(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) == 0 && (c & 0x80) == 0;
}

/// File names without extension, common prefix and common suffix (cut at separators): PRSA_Data_Dongsi_2013
/// and PRSA_Data_Dingling_2013 become Dongsi and Dingling.
std::vector<std::string> file_labels(const std::vector<std::string>& files) {
  std::vector<std::string> stems;
  for (const std::string& file : files) stems.push_back(fs::path(file).stem().string());
  if (stems.size() < 2) return stems;
  const std::string& first = stems[0];
  size_t prefix = first.size(), suffix = first.size();
  for (const std::string& stem : stems) {
    const auto ahead =
        std::mismatch(first.begin(), first.end(), stem.begin(), stem.end()).first - first.begin();
    const auto behind =
        std::mismatch(first.rbegin(), first.rend(), stem.rbegin(), stem.rend()).first - first.rbegin();
    prefix = std::min(prefix, static_cast<size_t>(ahead));
    suffix = std::min(suffix, static_cast<size_t>(behind));
  }
  while (prefix > 0 && !is_separator(first[prefix - 1])) --prefix;
  while (suffix > 0 && !is_separator(first[first.size() - suffix])) --suffix;
  std::vector<std::string> labels;
  for (const std::string& stem : stems) {
    if (stem.size() <= prefix + suffix) return stems;
    labels.push_back(stem.substr(prefix, stem.size() - prefix - suffix));
  }
  return labels;
}

void require_same_time(const TimeAxis& a, const TimeAxis& b, const std::string& path_a,
                       const std::string& path_b) {
  const std::string both = fmt::format("{} and {} must have the same dates, but ", path_a, path_b);
  require(a.dated == b.dated, ErrorKind::data, "{}only the {} has dates", both, a.dated ? "first" : "second");
  if (!a.dated) {
    require(a.length == b.length, ErrorKind::data,
            "{} and {} must have the same number of rows, but have {} and {}", path_a, path_b, a.length,
            b.length);
    return;
  }
  require(a.at(0) == b.at(0), ErrorKind::data, "{}the first begins with {} and the second with {}", both,
          a.text_at(0), b.text_at(0));
  require(a.step == b.step && a.months == b.months, ErrorKind::data,
          "{}the first has steps of {} and the second of {}", both, a.frequency_text(), b.frequency_text());
  require(a.length == b.length, ErrorKind::data, "{}the first ends with {} and the second with {}", both,
          a.text_at(a.length - 1), b.text_at(b.length - 1));
}

/// Counts equal messages of the files.
class Tally {
 public:
  void add(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
      const auto [at, is_new] = places_.add(sentence);
      if (is_new)
        counts_.emplace_back(sentence, 1);
      else
        ++counts_[at].second;
    }
  }
  std::vector<std::string> of(int64_t files) const {
    std::vector<std::string> sentences;
    for (const auto& [sentence, count] : counts_)
      sentences.push_back(count == files ? sentence
                                         : fmt::format("{} ({} of {} files)", sentence, count, files));
    return sentences;
  }

 private:
  std::vector<std::pair<std::string, int64_t>> counts_;
  NameIndex places_;  // in counts_
};

/// A text column with one distinct value per file, which names the files: Beijing's "station".
struct Naming {
  std::string column;
  std::vector<std::string> labels;
};
Naming naming_column(const std::vector<std::map<std::string, std::string>>& constants) {
  for (const auto& [column, unused] : constants[0]) {
    std::vector<std::string> labels;
    for (const auto& texts : constants)
      if (const auto at = texts.find(column); at != texts.end() && !at->second.empty())
        labels.push_back(at->second);
    if (labels.size() == constants.size() &&
        std::set<std::string>(labels.begin(), labels.end()).size() == labels.size())
      return {column, labels};
  }
  return {};
}

/// Numbers of a file in the dates of its own axis, appended to those of the files before it.
void append(SeriesTable& table, const Series& one) {
  const int64_t rows = one.values.size(0), width = one.values.size(1);
  const double* values = one.values.const_data_ptr<double>();
  for (int64_t v = 0; v < width; ++v)
    for (int64_t row = 0; row < rows; ++row)
      table.table.columns[static_cast<size_t>(v)].numbers.push_back(values[row * width + v]);
  for (int64_t row = 0; row < rows && one.time.dated; ++row) table.time.dates.push_back(one.time.at(row));
  table.ids.of_row.insert(table.ids.of_row.end(), static_cast<size_t>(rows),
                          static_cast<int32_t>(table.ids.series.size()));
  table.table.rows += rows;
}

/// Names of the columns of a folder's table: variables, time, the file.
void begin_table(SeriesTable& table, const Series& first) {
  io::CsvTable& columns = table.table;
  const auto add = [&](const std::string& name) {
    columns.columns.emplace_back().name = name;
    return columns.columns.size() - 1;
  };
  columns.had_header = *first.header;
  for (const std::string& name : first.modes[0].labels) {
    table.values.push_back(add(name));
    if (const auto unit = first.units.find(name); unit != first.units.end())
      columns.columns.back().unit = unit->second;
  }
  for (const std::string& name : first.time_columns.names) table.time.columns.push_back(add(name));
  table.time.parts = first.time_columns.parts;
  table.time.cells = first.time_columns.cells;
  table.time.style = first.time.style;
  table.ids.columns = {add("file")};
}

}  // namespace

SeriesTable read_panel_folder(const ForecastDataConfig& config) {
  require(config.statics.empty(), ErrorKind::config,
          "data.static_covariates: the files of a folder have none; join them to one table with a column of "
          "ids");
  const std::vector<std::string> files = csv_files(config.path), labels = file_labels(files);
  SeriesTable out;
  out.config = config;
  out.table.source = config.path;
  Frame first;
  Tally notes, warnings;
  for (size_t f = 0; f < files.size(); ++f) {
    Frame frame = f == 0 ? read_frame(files[f], config) : read_frame(files[f], config, &first, files[0]);
    if (f == 0) begin_table(out, frame.series);
    const TimeAxis &time = frame.series.time, &usual = f == 0 ? time : first.series.time;
    require(time.dated == usual.dated, ErrorKind::data,
            "{} and {}: either all files of a panel have dates or none", files[0], files[f]);
    if (time.dated)
      require(time.step == usual.step && time.months == usual.months, ErrorKind::data,
              "{} has steps of {} and {} of {}: the series of a panel have one time step", files[0],
              usual.frequency_text(), files[f], time.frequency_text());
    append(out, frame.series);
    out.ids.series.add({labels[f]});
    notes.add(frame.series.notes);
    warnings.add(frame.series.warnings);
    frame.series.values.reset();
    if (f == 0) first = std::move(frame);
  }
  out.notes = notes.of(std::ssize(files));
  out.warnings = warnings.of(std::ssize(files));
  return out;
}

Series read_folder_series(const ForecastDataConfig& asked) {
  ForecastDataConfig config = asked;
  const std::vector<std::string> files = csv_files(config.path);
  if (config.words.empty() && !config.categories.empty())
    for (const std::string& file : files) add_words(config.words, file, config);
  const auto count = static_cast<int64_t>(files.size());
  Series series;
  Frame first;
  std::vector<std::map<std::string, std::string>> constants;
  Tally notes, warnings;
  std::vector<Place> places;
  for (int64_t f = 0; f < count; ++f) {
    const std::string& path = files[static_cast<size_t>(f)];
    Frame frame = f == 0 ? read_frame(path, config) : read_frame(path, config, &first, files[0]);
    constants.push_back(frame.constant_texts);
    Series& one = frame.series;
    notes.add(one.notes);
    warnings.add(one.warnings);
    places.push_back(std::move(one.place));
    if (f == 0) {
      series.time = one.time;
      series.values = at::empty({one.time.length, count, one.values.size(1)}, at::kDouble);
    } else {
      require_same_time(series.time, one.time, files[0], path);
    }
    series.values.select(1, f).copy_(one.values);
    if (f == 0) {
      one.values.reset();
      first = std::move(frame);
    }
  }
  Naming naming = naming_column(constants);
  if (naming.labels.empty() || count < 2) naming = {"file", file_labels(files)};
  series.modes = {{naming.column, naming.labels, false}, first.series.modes[0]};
  series.notes = notes.of(count);
  series.warnings = warnings.of(count);
  series.header = first.series.header;
  series.decimal = first.series.decimal;
  series.units = first.series.units;
  series.categories = config.words;
  series.time_columns = first.series.time_columns;
  series.place = [places = std::move(places), width = std::ssize(first.series.modes[0].labels)](
                     int64_t row, int64_t index) {
    return places[static_cast<size_t>(index / width)](row, index % width);
  };
  const std::string left_out = fmt::format("column '{}' holds text and is dropped", naming.column);
  if (naming.column != "file")
    std::replace(series.notes.begin(), series.notes.end(), left_out,
                 fmt::format("column '{}' names the files", naming.column));
  return series;
}

}  // namespace modewise::data
