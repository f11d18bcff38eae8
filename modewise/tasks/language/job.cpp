#include "modewise/tasks/job.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/analysis/sequence_cost.h"
#include "modewise/core/error.h"
#include "modewise/report/table.h"
#include "modewise/tasks/language/kind.h"
#include "modewise/tasks/language/report.h"
#include "modewise/tasks/language/run.h"
#include "modewise/tasks/language/tables.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::tasks {
namespace {

class LanguageJob final : public ConfiguredJob<LanguageConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_language_config(file, assignments);
    if (is_run_config(file)) run_ = std::filesystem::path(file).parent_path();
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no text: give --data FILE, such as tinyshakespeare.txt, a folder of text files, or recall");
  }

  void load_data() override {
    // A run goes on with its own copy of the tokenizer.
    const bool kept = !run_.empty() && std::filesystem::is_directory(run_ / "tokenizer");
    data_ = load_language_data(
        config_, kept ? text::load_tokenizer((run_ / "tokenizer").string()) : tokenizer_of(config_));
    config_.model = config_.model.resolved();
  }

  std::string data_hash() const override { return data_.hash; }
  nlohmann::ordered_json describe_data() const override { return describe(config_, data_); }

  void announce() const override {
    const std::string model =
        fmt::format("model {}, {} parameters, context {}", model_title(config_),
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

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    keep_run_tokenizer(folder, data_);
    return train_language_model(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_language_report(open_language_run(folder.path()), folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override { return language_text(metrics); }

 private:
  std::filesystem::path run_;  // that is resumed
  LanguageData data_;
};

}  // namespace

std::unique_ptr<Job> make_language_job() {
  return std::make_unique<LanguageJob>();
}

}  // namespace modewise::tasks
