#include "cli/run_training.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/report/table.h"

namespace modewise::cli {

void RunOptions::add_to(CLI::App& command) {
  command.add_option("--out,--run", out, "run folder to make; runs/DATA-MODEL without it");
  command.add_flag("--exist-ok", exist_ok, "start anew in a folder that holds a run");
  command.add_option("--track", track, "recorded at each evaluation: stable_rank (train.track)")
      ->delimiter(',');
  command.add_flag(
      "--no-test", no_test,
      "leave the test part unread, to choose among settings by validation (train.test); evaluate "
      "RUN reads it when all is chosen");
  command.add_option("--resume", resume, "run folder to go on with; needs nothing else");
  command.add_flag("--override", override_config, "with --resume: accept changed settings");
}

std::string run_stem_of(const std::string& data, const std::string& model) {
  std::string stem = data + "-" + model;
  for (char& c : stem)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  return stem;
}

std::string test_count(bool read, size_t count) {
  return read ? fmt::format("{} test", count) : "test left unread";
}

std::string cost_text(const analysis::ModelCost& model) {
  std::string tokens;
  if (!model.tokens.empty()) {
    int64_t count = 1;
    for (const int64_t n : model.tokens) count *= n;
    tokens = model.tokens.size() > 1
                 ? fmt::format("makes {} = {} tokens and ", fmt::join(model.tokens, " × "),
                               report::Cell::count(count).text())
                 : fmt::format("makes {} tokens and ", report::Cell::count(count).text());
  }
  return fmt::format("cost: {} parameters; a sample {}takes {:.3g} million multiply-adds forward",
                     report::Cell::count(model.parameters()).text(), tokens, model.multiply_adds() / 1e6);
}

int run_training(const Program& program, const ConfigOptions& config, const RunOptions& options,
                 TrainingJob& job) {
  install_stop_handlers();
  std::vector<std::string> assignments = config.all_assignments();
  if (!options.track.empty())
    assignments.push_back(fmt::format("train.track={}", fmt::join(options.track, ",")));
  if (options.no_test) assignments.push_back("train.test=false");
  const bool resume = !options.resume.empty();
  std::optional<train::RunFolder> folder;
  if (resume) {
    require(config.config.empty() && options.out.empty(), ErrorKind::usage,
            "--resume takes the config and the folder of its run; --config and --out start another run");
    require(!options.no_test, ErrorKind::usage,
            "--resume reads the test part or not as its run began; --no-test starts another run");
    folder = train::RunFolder::open(options.resume);
    folder->require_task(job.task());
    folder->lock();
    job.load_config(folder->file("config.toml").string(), assignments);
  } else {
    job.load_config(config.config, assignments);
  }
  job.load_data();
  if (!resume) {
    folder = options.out.empty() ? train::RunFolder::create_numbered("runs", job.run_stem())
                                 : train::RunFolder::create(options.out, options.exist_ok);
    folder->begin({job.task(), program.command_line(), job.seed(), program.threads(), job.data_hash(),
                   job.reads_test()},
                  job.config_toml(), job.describe_data());
  }
  folder->start_log();
  job.announce();
  spdlog::info("{}", cost_text(job.cost()));
  tasks::TrainedRun trained = job.train(*folder, resume, options.override_config);
  if (trained.training.stopped_by_signal()) throw Stopped{trained.training.signal};
  if (resume && options.override_config) folder->write_config(job.config_toml());
  if (job.wants_report()) job.write_report(*folder);
  const std::string path = folder->path().string();
  if (program.json()) {
    trained.metrics["run"] = path;
    program.print(trained.metrics);
  } else {
    program.print(job.summary(trained.metrics) + fmt::format("\nrun folder: {}\n", path));
  }
  return 0;
}

}  // namespace modewise::cli
