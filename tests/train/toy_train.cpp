// Trains the toy task in a folder; tests/python/test_train_crash.py kills it at any moment.
//
//   train_toy run FOLDER [key=value…]          a new run
//   train_toy resume FOLDER [key=value…]       continues one
//   train_toy resume-all FOLDER… [key=value…]  continues each, printing one JSON line with its result
//
// Keys are the training options, and: threads; report (print a line at the start of each step); stall_at (a
// step that takes a minute); accept (allow changed options on resume).

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/log.h"
#include "modewise/core/stop_signal.h"
#include "modewise/train/loop/trainer.h"
#include "toy_task.h"

using namespace modewise;

namespace {

struct Options {
  train::TrainConfig config;
  bool report = false, accept = false;
  int64_t stall_at = -1;
};

Options read_options(const std::vector<std::string>& assignments) {
  Options options;
  options.config.epochs = 4;
  options.config.batch_size = 10;
  options.config.ema_decay = 0.9;
  options.config.patience = 0;
  options.config.schedule.warmup_steps = 3;
  options.config.checkpoint_every_steps = 4;
  options.config.log_every_steps = 5;
  Fields fields = fields_of(options.config);
  options.config.output_fields(fields);
  int64_t threads = 1;
  fields.add("threads", threads, "threads of a step");
  fields.add("report", options.report, "print each step");
  fields.add("accept", options.accept, "accept changed options");
  fields.add("stall_at", options.stall_at, "step that takes a minute");
  for (const std::string& assignment : assignments) fields.set(assignment);
  at::set_num_threads(static_cast<int>(threads));
  return options;
}

int train_in(const std::string& folder, bool resume, const Options& options) {
  train::ToyTask task;
  task.on_loss = [&](uint64_t step) {
    if (options.report) fmt::print("{}\n", step);
    std::fflush(stdout);
    if (static_cast<int64_t>(step) == options.stall_at) std::this_thread::sleep_for(std::chrono::minutes(1));
  };
  train::RunFolder run = resume ? train::RunFolder::open(folder) : train::RunFolder::create(folder);
  if (!resume) run.write_config("# toy\n");
  const train::TrainResult result = train::train(task, options.config, run, resume, options.accept);
  return result.stopped_by_signal() ? 128 + result.signal : 0;
}

template <class Work>
int guarded(Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return error.exit_code();
  }
}

}  // namespace

int main(int count, char** arguments) {
  set_up_logging(0, "never");
  install_stop_handlers();
  std::vector<std::string> folders, assignments;
  for (int i = 2; i < count; ++i) {
    const std::string argument = arguments[i];
    (argument.find('=') == std::string::npos ? folders : assignments).push_back(argument);
  }
  const std::string command = count > 1 ? arguments[1] : "";
  return guarded([&] {
    require(!folders.empty(), ErrorKind::usage, "train_toy run|resume|resume-all FOLDER… [key=value…]");
    const Options options = read_options(assignments);
    if (command != "resume-all") return train_in(folders.front(), command == "resume", options);
    for (const std::string& folder : folders) {
      const int code = guarded([&] { return train_in(folder, true, options); });
      fmt::print("{}\n", nlohmann::json({{"folder", folder}, {"code", code}}).dump());
    }
    return 0;
  });
}
