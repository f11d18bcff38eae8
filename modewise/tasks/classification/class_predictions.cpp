#include "modewise/tasks/classification/class_predictions.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "modewise/io/arrays/name_lines.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/run/commands.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string& class_of(const ClassPredictions& given, int64_t row) {
  return given.classes[static_cast<size_t>(metrics::predicted_class(given.table, row))];
}

std::string to_csv(const ClassPredictions& given, report::CsvReader reader) {
  const auto cell = [&](const std::string& text) { return report::csv_cell(text, reader); };
  std::string text = given.unit + ",class";
  for (const std::string& name : given.classes) text += "," + cell(name);
  text += "\n";
  for (int64_t row = 0; row < given.table.samples(); ++row) {
    text += cell(given.names[static_cast<size_t>(row)]) + "," + cell(class_of(given, row));
    for (int64_t k = 0; k < given.table.classes; ++k) text += fmt::format(",{}", given.table.score(row, k));
    text += "\n";
  }
  return text;
}

std::string to_npz(const ClassPredictions& given) {
  const metrics::ScoreTable& table = given.table;
  std::vector<int64_t> predicted;
  for (int64_t i = 0; i < table.samples(); ++i) predicted.push_back(metrics::predicted_class(table, i));
  return io::format_npz(
      {{"scores", io::make_array({table.samples(), table.classes}, std::span<const double>(table.scores))},
       {"predicted", io::make_array({table.samples()}, std::span<const int64_t>(predicted))},
       {"names", io::name_lines(given.names)},
       {"classes", io::name_lines(given.classes)}});
}

Json to_json(const ClassPredictions& given) {
  Json json = {{"classes", given.classes}, {given.units, Json::array()}};
  for (int64_t row = 0; row < given.table.samples(); ++row) {
    const auto scores = given.table.scores.begin() + row * given.table.classes;
    json[given.units].push_back({{"name", given.names[static_cast<size_t>(row)]},
                                 {"class", class_of(given, row)},
                                 {"scores", std::vector<double>(scores, scores + given.table.classes)}});
  }
  return json;
}

}  // namespace

Result give_predictions(const PredictRequest& options, const ClassPredictions& given) {
  const bool npz = wants_npz(options.out);
  Json json = to_json(given);
  const std::string file = npz ? to_npz(given) : to_csv(given, options.csv_reader);
  if (options.out.empty()) return {std::move(json), file};
  write_file_atomically(fs::path(options.out), file);
  spdlog::info("{}: {} predictions for {}", options.out, given.table.samples(), given.source);
  json["file"] = options.out;
  return {std::move(json), ""};
}

}  // namespace modewise::tasks
