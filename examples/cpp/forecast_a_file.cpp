// Trains a forecaster on a CSV file, as `modewise train forecast` does, and prints its validation error.
//   forecast_a_file FOLDER: writes FOLDER/load.csv and the run FOLDER/run

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>

#include "modewise/core/log.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/failure.h"
#include "modewise/tasks/run/train_run.h"

namespace {

/// Two series of 600 hours with a daily cycle and noise.
void write_series(const std::filesystem::path& path) {
  constexpr double kPi = 3.14159265358979323846;
  std::mt19937 random(1);
  std::ofstream file(path);
  file << "date,load,wind\n";
  for (int hour = 0; hour < 600; ++hour) {
    const double day = std::sin(2 * kPi * hour / 24), noise = random() / 4294967296.0 - 0.5;
    char row[80];
    std::snprintf(row, sizeof row, "2026-%02d-%02d %02d:00,%.3f,%.3f\n", 1 + hour / 24 / 28,
                  1 + hour / 24 % 28, hour % 24, 50 + 10 * day + 2 * noise, 8 - 2 * day + 3 * noise);
    file << row;
  }
}

int forecast(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_series(folder / "load.csv");

  modewise::tasks::TrainRequest request;
  request.assignments = {"data.path=" + (folder / "load.csv").string(),
                         "model.name=hot",
                         "model.width=16",
                         "forecast.lookback=48",
                         "forecast.horizon=12",
                         "train.max_steps=40"};
  request.out = folder / "run";
  const modewise::tasks::Result result =
      modewise::tasks::run_training(modewise::tasks::task_named("forecasting"), request);

  std::printf("validation MSE %.17g after step %lld\n", result.json.at("best").at("val_mse").get<double>(),
              static_cast<long long>(result.json.at("best_step").get<int64_t>()));
  std::printf("the run lies in %s\n", result.json.at("run").get<std::string>().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  modewise::set_up_logging(-1);
  try {
    return forecast(argc > 1 ? argv[1] : "forecast_a_file");
  } catch (const std::exception&) {
    const modewise::tasks::Failure failure = modewise::tasks::current_failure();
    std::fprintf(stderr, "%s\n", failure.sentence.c_str());
    return failure.exit_code;
  }
}
