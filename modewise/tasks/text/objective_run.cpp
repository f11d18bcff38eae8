#include "modewise/tasks/text/objective_run.h"

#include <spdlog/spdlog.h>

#include "modewise/core/error.h"
#include "modewise/core/remove_tree.h"
#include "modewise/tasks/run/own_samples.h"
#include "modewise/tasks/run/run_tokenizer.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/tasks/text/masked.h"
#include "modewise/tasks/text/regression.h"

namespace modewise::tasks {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void ObjectiveRun::load(const DataRequest& request) {
  const ObjectiveDescription description = about();
  if (request.training) {
    require(!config.data.path.empty(), ErrorKind::usage, "no texts: give --data {}", description.data);
    reading = training_reading(config, *this);
  }
  other_texts = !request.path.empty();  // load_data() finds the run's own
  const auto read = [&](bool with_test) { load_data(request.path, with_test); };
  if (!request.unchanged)
    read(request.with_test);
  else if (!load_and_compare(*this, request.with_test, read))
    refuse_changed(*this, config.data.path);
  if (!request.training) return log_data_notes();
  if (config.text.select == "auto") config.text.select = description.select;
}

Json ObjectiveRun::describe() const {
  Json json = describe_data();
  json["tokenizer"] = {{"name", reading.tokenizer->name()}, {"hash", reading.tokenizer->hash()}};
  return json;
}

void ObjectiveRun::restore(const Json& /*data*/, const std::string& /*file*/) {
  reading = run_reading(config, folder());
}

void ObjectiveRun::announce() {
  log_data_notes();
  spdlog::info("{}: {}; {}; model {}", config.data.path, data_text(config.train.test),
               reading.tokenizer->name(), model_title(config));
}

void ObjectiveRun::keep() const {
  keep_run_tokenizer(folder(), *reading.tokenizer);
}

Json ObjectiveRun::evaluate(const std::string& split, bool /*keep*/, train::Workers& /*workers*/) {
  return score(other_texts ? about().new_split : split);
}

void ObjectiveRun::finish(Json& metrics) {
  Run::finish(metrics);
  if (!config.output.export_model) return;
  remove_tree(folder().file("model"));  // left by an interrupted evaluation
  save(folder().file("model"));
}

std::vector<ResultTable> ObjectiveRun::tables(const Json& metrics) const {
  return {{"Evaluation", "", json_table(about().columns, evaluated_parts(metrics))}};
}

report::HtmlPage ObjectiveRun::page(const Json& metrics) {
  const ObjectiveDescription description = about();
  report::HtmlPage page = open_page(*this, {data_title(config),
                                            description.title,
                                            {{"data", data_text(config.train.test)}},
                                            {{"tokenizer", reading.tokenizer->name()}}});
  add_tables(page, tables(metrics));
  page.add_paragraph(
      "The weights are those of the best validation metric; the test texts are not used for selection.");
  add_sections(page, evaluated_part(metrics));
  add_learning(page, folder(), description.charts);
  return page;
}

std::unique_ptr<ObjectiveRun> make_objective_run(TextTaskConfig config) {
  if (config.is("masked_lm")) return std::make_unique<MaskedRun>(std::move(config));
  return std::make_unique<RegressionRun>(std::move(config));
}

}  // namespace modewise::tasks
