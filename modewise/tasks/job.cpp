#include "modewise/tasks/job.h"

#include <ATen/Parallel.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <cctype>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/report/table.h"
#include "modewise/tasks/kind.h"

namespace modewise::tasks {
namespace {

/// "cost: 61,234 parameters; a sample makes 7 × 7 × 7 = 343 tokens and takes 21.3 million multiply-adds
/// forward", and what is computed of the weights that full attention has.
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
  const std::string share =
      model.weight_share == 1
          ? ""
          : fmt::format("; its attention computes {:.3g} % of the n² weights", model.weight_share * 100);
  return fmt::format("cost: {} parameters; a sample {}takes {:.3g} million multiply-adds forward{}",
                     report::Cell::count(model.parameters()).text(), tokens, model.multiply_adds() / 1e6,
                     share);
}

/// The folder of an earlier run whose config the job has taken, or a new one that has become a run.
train::RunFolder load(const Kind& kind, const JobRequest& request, Job& job) {
  if (!request.resume.empty()) {
    train::RunFolder folder = train::RunFolder::open(request.resume);
    folder.require_task(kind.name);
    folder.lock();
    job.load_config(folder.file("config.toml").string(), request.assignments);
    job.load_data();
    return folder;
  }
  job.load_config(request.config, request.assignments);
  job.load_data();
  train::RunFolder folder = request.out.empty() ? train::RunFolder::create_numbered("runs", job.run_stem())
                                                : train::RunFolder::create(request.out, request.exist_ok);
  folder.begin(
      {kind.name, request.command_line, job.seed(), at::get_num_threads(), job.data_hash(), job.reads_test()},
      job.config_toml(), job.describe_data());
  return folder;
}

}  // namespace

std::string run_stem_of(const std::string& data, const std::string& model) {
  std::string stem = data + "-" + model;
  for (char& c : stem)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  return stem;
}

std::string test_count(bool read, size_t count) {
  return read ? fmt::format("{} test", count) : "test left unread";
}

Result run_job(const Kind& kind, const JobRequest& request) {
  const std::unique_ptr<Job> job = kind.job();
  const bool resume = !request.resume.empty();
  train::RunFolder folder = load(kind, request, *job);
  folder.start_log();
  job->announce();
  spdlog::info("{}", cost_text(job->cost()));
  TrainedRun trained = job->train(folder, resume, request.accept_changes);
  if (trained.training.stopped_by_signal()) throw Stopped{trained.training.signal};
  if (resume && request.accept_changes) folder.write_config(job->config_toml());
  if (job->wants_report()) job->write_report(folder);
  const std::string path = folder.path().string();
  std::string text = job->summary(trained.metrics) + fmt::format("\nrun folder: {}\n", path);
  trained.metrics["run"] = path;
  return {std::move(trained.metrics), std::move(text)};
}

}  // namespace modewise::tasks
