#include "modewise/tasks/labelled/class_tables.h"

#include <cmath>
#include <utility>

namespace modewise::tasks {

using Json = nlohmann::ordered_json;
using report::Cell;

namespace {

constexpr size_t kFewClasses = 12;
constexpr const char* kSplits[] = {"train", "validation", "test"};

}  // namespace

Cell percent(const Json& json, const char* key) {
  return Cell(json[key].is_number() ? 100 * json[key].get<double>() : std::nan(""), 1);
}

report::Table confusion_table(const Json& evaluation, const std::string& corner) {
  std::vector<report::Column> columns = {{corner}};
  for (const auto& one : evaluation["classes"]) columns.push_back({one["name"].get<std::string>()});
  report::Table confusion(columns);
  for (size_t k = 0; k < evaluation["classes"].size(); ++k) {
    std::vector<Cell> cells = {evaluation["classes"][k]["name"].get<std::string>()};
    for (const auto& count : evaluation["confusion"][k]) cells.emplace_back(count.get<int64_t>());
    confusion.add_row(std::move(cells));
  }
  return confusion;
}

report::Table score_table(std::span<const Json> evaluations, const std::string& many) {
  report::Table table({{"split"}, {many}, {"AUC %"}, {"accuracy %"}, {"balanced %"}, {"log loss"}});
  for (const Json& one : evaluations)
    table.add_row({one["split"].get<std::string>(), Cell::count(one["samples"].get<int64_t>()),
                   percent(one, "auc"), percent(one, "accuracy"), percent(one, "balanced_accuracy"),
                   Cell(one["loss"].is_number() ? one["loss"].get<double>() : std::nan(""), 3)});
  return table;
}

report::Table class_table(const Json& evaluation, const std::string& many) {
  report::Table table({{"class"}, {many}, {"AUC %"}, {"recall %"}, {"precision %"}});
  for (const Json& one : evaluation["classes"])
    table.add_row({one["name"].get<std::string>(), one["samples"].get<int64_t>(), percent(one, "auc"),
                   percent(one, "recall"), percent(one, "precision")});
  return table;
}

std::string evaluation_text(const Json& evaluation, const std::string& many, bool detail) {
  std::string text = score_table({&evaluation, 1}, many).to_text();
  if (detail || evaluation["classes"].size() <= kFewClasses)
    text += "\n" + class_table(evaluation, many).to_text();
  if (detail) text += "\n" + confusion_table(evaluation, "true \\ predicted").to_text();
  return text;
}

Result describe_set(const data::LabelledSamples& set, Json head, const std::string& line) {
  std::string text = line + "\n";
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  head["notes"] = set.notes;
  std::vector<report::Column> columns = {{"class"}};
  for (const char* split : kSplits) {
    head["splits"][split] = {{set.many, set.split(split).size()},
                             {"by_class", set.class_counts(set.split(split))}};
    columns.push_back({split});
  }
  report::Table table(columns);
  for (size_t k = 0; k <= set.classes.size(); ++k) {
    const bool all = k == set.classes.size();
    std::vector<Cell> cells = {all ? "all" : set.classes[k]};
    for (const char* split : kSplits) {
      const std::vector<int64_t> samples = set.split(split);
      cells.emplace_back(all ? std::ssize(samples) : set.class_counts(samples)[k]);
    }
    if (all) table.add_rule();
    table.add_row(std::move(cells));
  }
  return {std::move(head), text + "\n" + table.to_text()};
}

}  // namespace modewise::tasks
