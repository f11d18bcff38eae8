#include "modewise/tasks/language/tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {

using Json = nlohmann::ordered_json;
using report::Cell;

std::string recall_text(const Json& scores) {
  std::string text = fmt::format("recall {:.2f} % of {} questions\n\n", 100 * number(scores, "accuracy"),
                                 Cell::count(scores["asked"].get<int64_t>()).text());
  report::Table pairs({{"pairs"}, {"questions"}, {"recall %"}});
  for (const Json& one : scores["by_pairs"])
    pairs.add_row(
        {one["pairs"].get<int64_t>(), one["asked"].get<int64_t>(), Cell(100 * number(one, "accuracy"), 2)});
  report::Table distances({{"distance"}, {"questions"}, {"recall %"}});
  for (const Json& one : scores["by_distance"])
    distances.add_row({fmt::format("{} … {}", one["from"].get<int64_t>(), one["to"].get<int64_t>()),
                       one["asked"].get<int64_t>(), Cell(100 * number(one, "accuracy"), 2)});
  return text + pairs.to_text() + "\n" + distances.to_text();
}

std::string language_text(const Json& metrics) {
  const std::string judged = judged_part(metrics);
  if (metrics[judged].contains("by_pairs")) return judged + ": " + recall_text(metrics[judged]);
  report::Table table({{"text"}, {"tokens"}, {"loss"}, {"perplexity"}, {"bits a byte"}});
  for (const char* part : {"validation", "test"}) {
    if (!metrics.contains(part)) continue;
    table.add_row({part, metrics[part]["tokens"].get<int64_t>(), Cell(number(metrics[part], "loss"), 4),
                   Cell(number(metrics[part], "perplexity"), 3),
                   Cell(number(metrics[part], "bits_per_byte"), 4)});
  }
  return table.to_text();
}

std::string own_scores_text(const Json& own) {
  const Json& scores = own["scores"];
  if (scores.contains("by_pairs")) return own["split"].get<std::string>() + ": " + recall_text(scores);
  return fmt::format(
      "{}: {} tokens predicted once in windows of the trained length: loss {:.4f}, perplexity {:.3f}, "
      "{:.4f} bits a byte\n",
      own["split"].get<std::string>(), Cell::count(scores["tokens"].get<int64_t>()).text(),
      number(scores, "loss"), number(scores, "perplexity"), number(scores, "bits_per_byte"));
}

report::Table passkey_table(const std::vector<PasskeyCell>& cells) {
  report::Table table({{"tokens"}, {"depth %"}, {"found %"}, {"digits %"}, {"seconds"}});
  for (const PasskeyCell& cell : cells)
    table.add_row({cell.length, Cell(100 * cell.depth, 0), Cell(100 * cell.exact, 0),
                   Cell(100 * cell.digits, 0), Cell(cell.seconds, 2)});
  return table;
}

std::string questions_text(const Json& all) {
  report::Table table({{"task"}, {"questions"}, {"accuracy %"}, {"normalised %"}, {"metric"}, {"score"}});
  for (const Json& one : all) {
    const bool choice = one["kind"] == "choice";
    const auto accuracy = [&](const char* key) {
      return choice
                 ? Cell::mean_sd(100 * number(one[key], "mean"), 100 * number(one[key], "standard_error"), 1)
                 : Cell("");
    };
    table.add_row({one["name"].get<std::string>(), one["questions"].get<int64_t>(), accuracy("accuracy"),
                   accuracy("accuracy_normalized"), choice ? "" : one["metric"].get<std::string>(),
                   choice ? Cell("") : Cell(number(one, "score"), 2)});
  }
  return table.to_text();
}

}  // namespace modewise::tasks
