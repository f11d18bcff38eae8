#include "modewise/tasks/job.h"

#include <ATen/Parallel.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <variant>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/report/table.h"
#include "modewise/tasks/task_spec.h"
#include "modewise/train/distributed/workers.h"

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

/// What is asked of a group of processes: a restart goes on with its run.
JobRequest of_group(JobRequest request) {
  train::Workers& workers = train::workers();
  if (workers.size() == 1) return request;
  require(
      !request.out.empty() || !request.resume.empty(), ErrorKind::usage,
      "{} processes train together: --out says in which folder, so that they find it when they are started "
      "again",
      workers.size());
  const char* restarts = std::getenv("TORCHELASTIC_RESTART_COUNT");
  if (restarts == nullptr || std::string_view(restarts) == "0" || !request.resume.empty()) return request;
  // Asked together, so that nobody sees what the lead makes afterwards.
  if (workers.largest(std::filesystem::exists(std::filesystem::path(request.out) / "config.toml") ? 1 : 0) !=
      0) {
    request.resume = std::exchange(request.out, "");
    request.config.clear();
    request.assignments.clear();
  } else {
    request.exist_ok = true;  // what a start left that did not come to be a run
  }
  return request;
}

/// Loads config and data; where nothing says otherwise, batches are cut into a part for each process.
void load_inputs(Job& job, const std::string& config, std::vector<std::string> assignments) {
  const int64_t processes = train::workers().size();
  job.load_config(config, assignments);
  if (job.shards() == 1 && processes > 1) {
    assignments.push_back(fmt::format("train.shards={}", processes));
    job.load_config(config, assignments);
  }
  job.load_data();
}

bool computes_bf16(Job& job) {
  const Fields fields = job.fields();
  return std::ranges::any_of(fields.list(), [](const Field& field) {
    return field.path == "model.precision" && *std::get<std::string*>(field.value) == "bf16";
  });
}

/// What the bits of the job depend on besides config and data, with the loops for `isa`.
std::string bits_of(Job& job, const std::string& isa) {
  return ops::bits_of(isa, computes_bf16(job));
}

/// Loops without instructions for bfloat16 multiply it as float32 and widen and round each number beside.
void warn_of_slow_bf16(Job& job) {
  const std::string isa = ops::active_isa();
  if (computes_bf16(job) && ops::bits_of(isa, true) == ops::bits_of(isa, false))
    spdlog::warn(
        "model.precision = bf16: this CPU has no bf16 instructions; float32 is faster here, bf16 takes less "
        "memory");
}

/// Data error unless all processes have the same config and data as the lead, and give the same bits.
void require_equal_inputs(Job& job) {
  const train::Common inputs[] = {{"settings", job.config_toml()},
                                  {"data", job.data_hash()},
                                  {"loops (MODEWISE_ISA)", bits_of(job, ops::active_isa())}};
  train::check_equal_on_all_ranks(train::workers(), inputs);
}

/// Says so where the run began with loops that give other bits than those here.
void compare_instruction_sets(const train::RunFolder& folder, Job& job) {
  if (!std::filesystem::exists(folder.file("manifest.json"))) return;
  const auto manifest = folder.read_manifest();
  const auto began = manifest.find("instruction_set");
  if (began == manifest.end() || !began->is_string()) return;
  const std::string then = began->get<std::string>(), now = ops::active_isa();
  if (bits_of(job, then) != bits_of(job, now))
    spdlog::warn(
        "{} began with loops for {}: with those for {} it ends with other bits than it would have had "
        "(MODEWISE_ISA={} takes them where the CPU has them)",
        folder.path().string(), then, now, then);
}

/// The files and folders that the job's settings name.
std::vector<std::string> paths_of(Job& job) {
  std::vector<std::string> paths;
  const auto add = [&](const Field& field, const std::string& text) {
    if (!text.empty() && field.rule.is_path(text)) paths.push_back(text);
  };
  const Fields fields = job.fields();
  for (const Field& field : fields.list()) {
    if (field.rule.is_path == nullptr) continue;
    if (auto* const* one = std::get_if<std::string*>(&field.value)) add(field, **one);
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&field.value))
      for (const std::string& text : **list) add(field, text);
  }
  return paths;
}

/// The folder of an earlier run whose config the job has taken, or a new one that has become a run. Of
/// several processes the lead makes it.
train::RunFolder load(const TaskSpec& kind, const JobRequest& request, Job& job) {
  train::Workers& workers = train::workers();
  if (!request.resume.empty()) {
    train::RunFolder folder = train::RunFolder::open(request.resume);
    folder.require_task(kind.name);
    if (workers.is_rank_zero()) folder.lock();
    load_inputs(job, folder.file("config.toml").string(), request.assignments);
    compare_instruction_sets(folder, job);
    require_equal_inputs(job);
    return folder;
  }
  load_inputs(job, request.config, request.assignments);
  require_equal_inputs(job);
  if (!workers.is_rank_zero()) {
    workers.largest(0);  // the lead has made the run
    return train::RunFolder::open(request.out);
  }
  train::RunFolder folder = request.out.empty() ? train::RunFolder::create_numbered("runs", job.run_stem())
                                                : train::RunFolder::create(request.out, request.exist_ok,
                                                                           request.inputs, paths_of(job));
  folder.begin({kind.name, request.command_line, job.seed(), at::get_num_threads(), job.data_hash(),
                job.reads_test(), request.inputs},
               job.config_toml(), job.describe_data());
  workers.largest(0);
  return folder;
}

/// Whether a run that was trained without its test part has been evaluated on it since.
bool evaluated_on_test(const train::RunFolder& folder, const Job& job) {
  if (job.reads_test() || !std::filesystem::exists(folder.file("metrics.json"))) return false;
  try {
    return folder.read_metrics().contains("test");
  } catch (const Error&) {  // the training's end writes it anew
    return false;
  }
}

/// Evaluates it on the test part once more, since the end of the training has taken the place of the figures.
void evaluate_again(const TaskSpec& kind, const train::RunFolder& folder, TrainedRun& trained) {
  train::Workers& workers = train::workers();
  if (workers.size() > 1 && !kind.in_shares) return;
  EvaluateRequest of_test;
  of_test.run = folder.path().string();
  kind.evaluate(of_test);
  if (workers.is_rank_zero()) trained.metrics = folder.read_metrics();
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

Result run_job(const TaskSpec& kind, const JobRequest& given) {
  const JobRequest request = of_group(given);
  const std::unique_ptr<Job> job = kind.job();
  const bool resume = !request.resume.empty();
  train::RunFolder folder = load(kind, request, *job);
  if (train::workers().is_rank_zero()) {
    folder.start_log();
    warn_of_slow_bf16(*job);
  }
  job->announce();
  spdlog::info("{}", cost_text(job->cost()));
  const bool evaluated = train::workers().largest(resume && evaluated_on_test(folder, *job) ? 1 : 0) != 0;
  TrainedRun trained = job->train(folder, resume, request.accept_changes);
  if (trained.training.stopped_by_signal()) throw Stopped{trained.training.signal};
  if (evaluated) evaluate_again(kind, folder, trained);
  if (!train::workers().is_rank_zero()) return {};
  if (resume && request.accept_changes) folder.write_config(job->config_toml());
  if (job->wants_report()) job->write_report(folder);
  const std::string path = folder.path().string();
  std::string text = job->summary(trained.metrics) + fmt::format("\nrun folder: {}\n", path);
  trained.metrics["run"] = path;
  return {std::move(trained.metrics), std::move(text)};
}

}  // namespace modewise::tasks
