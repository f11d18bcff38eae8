#pragma once
// Run on a panel (data/forecasting/panel.h): one model for all series, which trains on windows drawn from
// each series, or a local model for each. Besides the trainer's files its folder has data.json (variables,
// time step, ids), calibration.npz (margins pooled over the series) and test_series.npz (MASE of each
// series), and trained_series.npz (panel_changes.h).

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modewise/data/forecasting/panel.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/evaluate.h"
#include "modewise/tasks/forecasting/panel_changes.h"
#include "modewise/tasks/forecasting/panel_forecast.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

class PanelRun final : public Run {
 public:
  /// `table`: that of the config's data, if it is already read.
  explicit PanelRun(ForecastConfig settings, std::optional<data::SeriesTable> table = {})
      : config(std::move(settings)), table_(std::move(table)) {}

  RunSettings settings() override { return settings_of(config); }
  void load(const DataRequest& request) override;
  std::string hash() const override { return content; }
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;
  void announce() override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;

  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  void finish(nlohmann::ordered_json& metrics) override;
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  /// Errors, forecasts of the best, median and worst series, learning curves.
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  /// Loads the panel of another file, or of the training, checked against the run. `table`: that of the file,
  /// if it is already read.
  data::Panel load_panel(const std::string& path, std::optional<data::SeriesTable> table = {}) const;
  /// Changes of a panel since the training; none if it has the rows of the training, or if the run does not
  /// know them (an unfinished run, or one of an earlier version).
  std::optional<PanelChanges> changes(const data::Panel& of) const;
  /// Logs a warning if the rows of the training have other values in the run's own file.
  void warn_of_changes(const data::Panel& own) const;
  /// Data config of the run, which reads later files as the training data were read.
  data::ForecastDataConfig series_config() const;
  /// The forecaster of a panel whose first rows, as many as `fitted` of each series, give the scale.
  PanelForecaster forecaster(const data::Panel& of, std::span<const int64_t> fitted) const;
  /// The forecaster of the loaded samples, scaled by their training rows; outputs of local models are kept.
  PanelForecaster forecaster() const;
  /// Windows of the test or validation split; of other data those of their last rows. Usage error for another
  /// split, data error if there are none.
  std::vector<data::PanelWindow> windows_of(const std::string& split) const;
  CalibratedForecaster calibrated() const { return {model.get(), &config, calibration}; }

  ForecastConfig config;
  data::Panel panel;  // the loaded samples
  data::PanelSplits splits;
  std::string content;   // hash of the loaded samples
  std::string training;  // hash of the ids and scales of the training rows
  std::shared_ptr<models::Forecaster> model;
  std::optional<metrics::Calibration> calibration;

 private:
  void fit();
  /// "16 series of 60 to 80 rows, one every month".
  std::string panel_text() const;
  /// Covariates per step of the model.
  int64_t features() const;
  data::PanelScaler scaler(const data::Panel& of, std::span<const int64_t> rows) const;
  std::vector<int64_t> all_rows(const data::Panel& of) const;
  std::vector<int64_t> rows_before_test() const;
  /// Warns of windows whose MASE is undefined, or relative to lag 1.
  void warn_of_scales(const nlohmann::ordered_json& evaluation, std::span<const data::PanelWindow> windows,
                      std::span<const double> mase) const;
  /// Compares the loaded samples with those of the training.
  void compare(const DataRequest& request);

  std::optional<data::SeriesTable> table_;      // of the training, until it is a panel
  std::vector<ForecastConfig> member_configs_;  // of an ensemble
  std::shared_ptr<LocalOutputs> kept_;          // of the loaded samples

  std::string chosen_;                                       // result of choose_defaults
  std::vector<std::string> variables_;                       // of the training
  std::optional<std::map<std::string, std::string>> units_;  // of the training; none: a run made before
  std::string date_order_;                                   // of the training, as in ForecastDataConfig
  std::string trained_on_;                                   // source of the training data of a restored run
  std::string trained_hash_;                                 // of these data
  int64_t trained_series_ = 0, trained_rows_ = 0;            // of these data
  bool whole_ = false;                                       // no split: the last windows are evaluated
  data::TimeAxis clock_;                                     // of the training
  std::vector<std::string> id_;                              // id columns of the training
  std::string time_numbers_;                                 // column of numbers that are its times, or ""
  bool clock_has_start_ = true;                              // false: a run made before
  std::vector<data::StaticEncoding> encodings_;
  bool known_gaps_ = false;  // whether future covariates are missing in rows of the training
};

}  // namespace modewise::tasks
