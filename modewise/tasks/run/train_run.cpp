#include "modewise/tasks/run/train_run.h"

#include <ATen/Parallel.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/version.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/nn/layers/move_module.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/report/table.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/rank_tracking.h"
#include "modewise/tasks/run/resume_changes.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/train_state.h"
#include "modewise/train/distributed/workers.h"
#include "modewise/train/loop/compute_device.h"
#include "modewise/train/loop/trainer.h"

namespace modewise::tasks {
namespace {

/// "cost: 61,234 parameters; a sample has 7 × 7 × 7 = 343 tokens and needs 21.3 million multiply-adds
/// forward", and the fraction of attention weights that is computed.
std::string cost_text(const nn::ModelCost& model) {
  std::string tokens;
  if (!model.tokens.empty()) {
    int64_t count = 1;
    for (const int64_t n : model.tokens) count *= n;
    tokens = model.tokens.size() > 1 ? fmt::format("has {} = {} tokens and ", fmt::join(model.tokens, " × "),
                                                   report::Cell::count(count).text())
                                     : fmt::format("has {} tokens and ", report::Cell::count(count).text());
  }
  const std::string share =
      model.weight_share == 1
          ? ""
          : fmt::format("; its attention computes {:.3g} % of the n² weights", model.weight_share * 100);
  const double millions = model.multiply_adds() / 1e6;
  return fmt::format(
      "cost: {} parameters; a sample {}needs {} million multiply-adds forward{}",
      report::Cell::count(model.parameters()).text(), tokens,
      millions < 1000 ? fmt::format("{:.3g}", millions) : report::Cell::count(std::llround(millions)).text(),
      share);
}

/// The request of a process group: a restarted group resumes its run.
TrainRequest of_group(TrainRequest request) {
  train::Workers& workers = train::workers();
  if (workers.size() == 1) return request;
  require(!request.out.empty() || !request.resume.empty(), ErrorKind::usage,
          "set --out to train with {} processes, so that they find the run folder when they are restarted",
          workers.size());
  const char* restarts = std::getenv("TORCHELASTIC_RESTART_COUNT");
  if (restarts == nullptr || std::string_view(restarts) == "0" || !request.resume.empty()) return request;
  // All ranks check before rank 0 creates the run.
  if (workers.all_reduce_max(
          std::filesystem::exists(std::filesystem::path(request.out) / "config.toml") ? 1 : 0) != 0) {
    request.resume = std::exchange(request.out, "");
    request.config.clear();
    request.assignments.clear();
  } else {
    request.exist_ok = true;  // left by a start that did not create a run
  }
  return request;
}

/// Config error unless the device of the model is there, and of one type on all ranks.
void require_equal_devices(Run& run) {
  const at::Device device = train::chosen_device(run.settings().train.device);
  const auto type = static_cast<int64_t>(device.type());
  const int64_t highest = train::workers().all_reduce_max(type);
  const int64_t lowest = -train::workers().all_reduce_max(-type);
  const auto name = [](int64_t one) { return c10::DeviceTypeName(static_cast<c10::DeviceType>(one), true); };
  require(highest == lowest, ErrorKind::config,
          "the processes compute on devices of two types, {} and {}: give all of them --device cpu, or a "
          "device of the other type each",
          name(lowest), name(highest));
}

/// The run of the settings, with its samples; by default batches have one shard per process.
std::unique_ptr<Run> load_run(const TaskSpec& task, Settings settings,
                              const std::optional<train::RunFolder>& folder) {
  const int64_t processes = train::workers().size();
  settings.training = !folder.has_value();
  std::unique_ptr<Run> run = task.create(settings);
  if (run->settings().train.shards == 1 && processes > 1) {
    settings.assignments.push_back(fmt::format("train.shards={}", processes));
    run = task.create(settings);
  }
  if (folder) run->set_folder(*folder);
  check_rank_tracking(*run, settings.file);
  require_equal_devices(*run);  // before reading samples
  DataRequest samples;
  samples.training = true;
  samples.with_test = run->settings().train.test;
  run->load(samples);
  return run;
}

bool computes_bf16(Run& run) {
  const Fields fields = run.settings().fields;
  return std::ranges::any_of(fields.list(), [](const Field& field) {
    return field.path == "model.precision" && *std::get<std::string*>(field.value) == "bf16";
  });
}

/// Identifier of the run's numerical results with the kernels for `isa`, besides config and data.
std::string bits_of(Run& run, const std::string& isa) {
  return ops::bits_of(isa, computes_bf16(run));
}

/// Warns that kernels without bf16 instructions compute in float32 and also convert each number.
void warn_of_slow_bf16(Run& run) {
  const std::string isa = ops::active_isa();
  if (computes_bf16(run) && ops::bits_of(isa, true) == ops::bits_of(isa, false))
    spdlog::warn(
        "model.precision = bf16: this CPU has no bf16 instructions; float32 is faster here, bf16 needs less "
        "memory");
}

/// Data error unless all ranks have the same versions, config, data and kernels as rank 0.
void require_equal_inputs(Run& run) {
  const train::Common inputs[] = {{"versions of modewise", build_info().version},
                                  {"versions of torch", TORCH_VERSION},
                                  {"settings", run.settings().fields.to_toml()},
                                  {"data", run.hash()},
                                  {"loops (MODEWISE_ISA)", bits_of(run, ops::active_isa())}};
  train::check_equal_on_all_ranks(train::workers(), inputs);
}

/// Warns if the run began with kernels that are not bit-exact with the current ones.
void compare_instruction_sets(Run& run) {
  const train::RunFolder& folder = run.folder();
  if (!std::filesystem::exists(folder.file("manifest.json"))) return;
  const auto manifest = folder.read_manifest();
  const auto began = manifest.find("instruction_set");
  if (began == manifest.end() || !began->is_string()) return;
  const std::string then = began->get<std::string>(), now = ops::active_isa();
  if (bits_of(run, then) != bits_of(run, now))
    spdlog::warn(
        "{} began with kernels for {}: with those for {} the results are not bit-exact "
        "(MODEWISE_ISA={} selects them if the CPU supports them)",
        folder.path().string(), then, now, then);
}

/// Files and folders in the run's settings.
std::vector<std::string> paths_of(Run& run) {
  std::vector<std::string> paths;
  const auto add = [&](const Field& field, const std::string& text) {
    if (!text.empty() && field.rule.is_path(text)) paths.push_back(text);
  };
  const Fields fields = run.settings().fields;
  for (const Field& field : fields.list()) {
    if (field.rule.is_path == nullptr) continue;
    if (auto* const* one = std::get_if<std::string*>(&field.value)) add(field, **one);
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&field.value))
      for (const std::string& text : **list) add(field, text);
  }
  return paths;
}

/// The run to resume with its samples, its folder locked. Errors for changes that are not accepted.
std::unique_ptr<Run> load_resumed(const TaskSpec& task, const TrainRequest& request, ResumeChanges& changes) {
  train::RunFolder folder = train::RunFolder::open(request.resume);
  folder.require_task(task.name);
  if (train::workers().is_rank_zero()) folder.lock();
  changes.settings = changed_settings(task, folder, request.assignments);
  train::require_same_settings(changes.settings, request.accept_changes);
  std::unique_ptr<Run> run =
      load_run(task, {folder.file("config.toml").string(), request.assignments}, folder);
  compare_instruction_sets(*run);
  require_equal_inputs(*run);
  changes.data = changed_data(*run);
  require_same_data(*run, changes.data, request.accept_changes);
  return run;
}

/// A new run with its samples; rank 0 creates its folder.
std::unique_ptr<Run> load_new(const TaskSpec& task, const TrainRequest& request) {
  train::Workers& workers = train::workers();
  std::unique_ptr<Run> run = load_run(task, {request.config, request.assignments}, std::nullopt);
  require_equal_inputs(*run);
  if (!workers.is_rank_zero()) {
    workers.all_reduce_max(0);  // barrier: rank 0 has created the folder
    run->set_folder(train::RunFolder::open(request.out));
    return run;
  }
  const RunSettings settings = run->settings();
  train::RunFolder folder =
      request.out.empty()
          ? train::RunFolder::create_numbered("runs", run_stem_of(settings.data, settings.model))
          : train::RunFolder::create(request.out, request.exist_ok, request.inputs, paths_of(*run));
  folder.begin({task.name, request.command_line, settings.train.seed, at::get_num_threads(), run->hash(),
                settings.train.test, request.inputs, train::chosen_device(settings.train.device).str()},
               settings.fields.to_toml(), run->describe());
  run->set_folder(std::move(folder));
  workers.all_reduce_max(0);
  return run;
}

/// Whether a run that was trained without its test split has been evaluated on it since.
bool evaluated_on_test(Run& run) {
  if (run.settings().train.test || !std::filesystem::exists(run.folder().file("metrics.json"))) return false;
  try {
    return run.folder().read_metrics().contains("test");
  } catch (const Error&) {  // rewritten at the end of training
    return false;
  }
}

/// Evaluates the test split again, because the end of training has replaced metrics.json.
void evaluate_again(const TaskSpec& task, const Run& run) {
  if (train::workers().size() > 1 && !task.in_shares) return;
  EvaluateRequest of_test;
  of_test.run = run.folder().path().string();
  evaluate_run(task, of_test);
}

/// Trains the model, then evaluates it and writes the results on rank 0.
train::TrainResult train_model(Run& run, bool resume, bool accept_changes, const ResumeChanges& changes) {
  train::RunFolder folder = run.folder();
  run.keep();
  const bool begun = resume && !train::CheckpointStore(folder.checkpoints()).empty();
  run.make_model(begun ? Purpose::resume : Purpose::train);
  const std::unique_ptr<train::ModuleTask> task = run.task();
  nn::move_module(run.module(), train::chosen_device(run.settings().train.device));
  const train::TrainResult result =
      train::train(*task, run.settings().train, folder, resume, accept_changes, train::workers(),
                   [&](bool steps_left) { write_changes(run, changes, steps_left); });
  if (!result.to_be_evaluated()) return result;
  run.module().eval();
  nlohmann::ordered_json metrics = folder.read_metrics();
  if (!run.settings().train.test) metrics.erase("test");  // evaluated since, and again after this
  run.finish(metrics);
  if (run.test_time().count > 0 && !result.finished_before) {
    nlohmann::ordered_json timing = folder.read_timing();
    timing["test"] = to_json(run.test_time());
    folder.write_timing(timing);
  }
  folder.write_metrics(metrics);  // after the other files: a run with results is finished
  return result;
}

}  // namespace

Result run_training(const TaskSpec& task, const TrainRequest& given) {
  const TrainRequest request = of_group(given);
  const bool resume = !request.resume.empty(), rank_zero = train::workers().is_rank_zero();
  ResumeChanges changes;
  const std::unique_ptr<Run> run = resume ? load_resumed(task, request, changes) : load_new(task, request);
  const train::RunFolder& folder = run->folder();
  if (rank_zero) {
    folder.start_log();
    warn_of_slow_bf16(*run);
  }
  run->announce();
  spdlog::info("{}", cost_text(run->cost()));
  const bool evaluated = train::workers().all_reduce_max(resume && evaluated_on_test(*run) ? 1 : 0) != 0;
  const train::TrainResult trained = train_model(*run, resume, request.accept_changes, changes);
  if (trained.stopped_by_signal()) throw Stopped{trained.signal};
  if (evaluated) evaluate_again(task, *run);
  if (!rank_zero) return {};
  nlohmann::ordered_json metrics = folder.read_metrics();
  const std::filesystem::path report = folder.file("report.html");
  if (run->settings().report && evaluated)
    report_run(task, folder.path().string(), "", report);  // with the samples of the test split
  else if (run->settings().report)
    write_report(*run, report);
  std::string text =
      tables_text(run->tables(metrics)) + fmt::format("\nrun folder: {}\n", folder.path().string());
  metrics["run"] = folder.path().string();
  return {std::move(metrics), std::move(text)};
}

}  // namespace modewise::tasks
