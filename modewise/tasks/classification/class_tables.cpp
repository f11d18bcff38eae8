#include "modewise/tasks/classification/class_tables.h"

#include <fmt/format.h>

#include <utility>

namespace modewise::tasks {

using Json = nlohmann::ordered_json;
using report::Cell;

namespace {

constexpr size_t kFewClasses = 12;
constexpr const char* kSplits[] = {"train", "validation", "test"};

}  // namespace

report::Table confusion_table(const Json& evaluation, const std::string& corner) {
  std::vector<report::Column> columns = {{corner}};
  for (const auto& one : evaluation.at("classes")) columns.push_back({one.at("name").get<std::string>()});
  report::Table confusion(columns);
  for (size_t k = 0; k < evaluation.at("classes").size(); ++k) {
    std::vector<Cell> cells = {evaluation.at("classes").at(k).at("name").get<std::string>()};
    for (const auto& count : evaluation.at("confusion").at(k)) cells.emplace_back(count.get<int64_t>());
    confusion.add_row(std::move(cells));
  }
  return confusion;
}

std::vector<ResultTable> evaluation_tables(const Json& evaluations, const std::string& many) {
  const Json& last = evaluations.back();
  std::vector<JsonColumn> columns = {{"split", "split"},
                                     {many, "samples"},
                                     {"AUC %", "auc", 1, 100},
                                     {"accuracy %", "accuracy", 1, 100},
                                     {"balanced %", "balanced_accuracy", 1, 100},
                                     {"log loss", "loss", 3}};
  for (const JsonColumn& further :
       {JsonColumn{"macro F1 %", "macro_f1", 1, 100}, JsonColumn{"majority %", "majority_accuracy", 1, 100},
        JsonColumn{"Matthews", "matthews", 3}, JsonColumn{"F1 %", "f1", 1, 100},
        JsonColumn{"mismatched %", "mismatched_accuracy", 1, 100}})
    if (last.contains(further.key)) columns.push_back(further);
  return {
      {"",
       "AUC and accuracy as in MedMNIST's evaluator; majority: the accuracy of always predicting the most "
       "frequent class.",
       json_table(columns, evaluations)},
      {"",
       fmt::format("The {} {}.", last.at("split").get<std::string>(), many),
       json_table({{"class", "name"},
                   {many, "samples"},
                   {"AUC %", "auc", 1, 100},
                   {"recall %", "recall", 1, 100},
                   {"precision %", "precision", 1, 100},
                   {"F1 %", "f1", 1, 100}},
                  last.at("classes")),
       {},
       last.at("classes").size() > kFewClasses},
      {"", "", confusion_table(last, "true \\ predicted"), {}, true},
  };
}

std::string evaluation_text(const Json& evaluation, const std::string& many, bool detail) {
  return tables_text(evaluation_tables(Json::array({evaluation}), many), detail);
}

Result describe_set(const data::LabelledSamples& set, Json head, const std::string& line) {
  std::string text = line + "\n";
  std::vector<std::string> notes = set.notes;
  for (const char* split : kSplits)
    if (set.split(split).empty() && !set.split_rule.empty()) notes.push_back(set.no_samples(split));
  for (const std::string& note : notes) text += "note: " + note + "\n";
  head["notes"] = notes;
  std::vector<report::Column> columns = {{"class"}};
  std::vector<std::vector<int64_t>> counts;  // of each split: by class, then total
  for (const char* split : kSplits) {
    const std::vector<int64_t> samples = set.split(split);
    std::vector<int64_t> by_class = set.class_counts(samples);
    head["splits"][split] = {{set.json_key, samples.size()}, {"by_class", by_class}};
    columns.push_back({split});
    by_class.push_back(std::ssize(samples));
    counts.push_back(std::move(by_class));
  }
  report::Table table(columns);
  for (size_t k = 0; k <= set.classes.size(); ++k) {
    const bool all = k == set.classes.size();
    std::vector<Cell> cells = {all ? "all" : set.classes[k]};
    for (const std::vector<int64_t>& count : counts) cells.emplace_back(count[k]);
    if (all) table.add_rule();
    table.add_row(std::move(cells));
  }
  return {std::move(head), text + "\n" + table.to_text()};
}

}  // namespace modewise::tasks
