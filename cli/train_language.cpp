#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/language_options.h"
#include "cli/run_training.h"
#include "modewise/analysis/sequence_cost.h"
#include "modewise/core/error.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language/report.h"
#include "modewise/tasks/language/run.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::cli {
namespace {

class LanguageJob final : public ConfiguredJob<tasks::LanguageConfig> {
 public:
  std::string task() const override { return "language"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_language_options(file, assignments);
    if (tasks::is_run_config(file)) run_ = std::filesystem::path(file).parent_path();
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no text: give --data FILE, such as tinyshakespeare.txt, a folder of text files, or recall");
  }

  void load_data() override {
    // A run goes on with its own copy of the tokenizer.
    const bool kept = !run_.empty() && std::filesystem::is_directory(run_ / "tokenizer");
    data_ = tasks::load_language_data(
        config_, kept ? text::load_tokenizer((run_ / "tokenizer").string()) : tasks::tokenizer_of(config_));
    config_.model = config_.model.resolved();
  }

  std::string data_hash() const override { return data_.hash; }
  nlohmann::ordered_json describe_data() const override { return tasks::describe(config_, data_); }

  void announce() const override {
    const std::string model =
        fmt::format("model {}, {} parameters, context {}", tasks::model_title(config_),
                    report::Cell::count(config_.model.parameters()).text(), config_.model.context);
    if (config_.data.is_recall()) {
      spdlog::info("recall: {} samples an epoch; {}", config_.data.recall.samples, model);
      return;
    }
    for (const std::string& note : data_.set.notes) spdlog::info("{}", note);
    const auto tokens = [](const data::TokenPart& part) { return report::Cell::count(part.tokens()).text(); };
    spdlog::info("{}: {}; {} training tokens in {} documents, {} validation, {}; {}", data_.set.source,
                 data_.tokenizer->name(), tokens(data_.set.train), data_.set.train.spans.size(),
                 tokens(data_.set.validation),
                 reads_test() ? tokens(data_.set.test) + " test" : test_count(false, 0), model);
  }

  analysis::ModelCost cost() const override { return analysis::language_cost(config_.model); }

  tasks::TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    tasks::keep_run_tokenizer(folder, data_);
    return tasks::train_language_model(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    tasks::write_language_report(tasks::open_language_run(folder.path()), folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override { return language_text(metrics); }

 private:
  std::filesystem::path run_;  // that is resumed
  tasks::LanguageData data_;
};

}  // namespace

void add_train_language(Program& program, CLI::App& parent) {
  add_training<LanguageConfigOptions, LanguageJob>(
      program, parent, "language", "Trains a language model on text, from scratch or from a model (--init).",
      "modewise train language --data tinyshakespeare.txt --attention tensor",
      config_help<tasks::LanguageConfig>);
}

}  // namespace modewise::cli
