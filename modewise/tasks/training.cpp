#include "modewise/tasks/training.h"

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

/// "cost: 61,234 parameters; a sample has 7 × 7 × 7 = 343 tokens and needs 21.3 million multiply-adds
/// forward", and the fraction of attention weights that is computed.
std::string cost_text(const analysis::ModelCost& model) {
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
  return fmt::format("cost: {} parameters; a sample {}needs {:.3g} million multiply-adds forward{}",
                     report::Cell::count(model.parameters()).text(), tokens, model.multiply_adds() / 1e6,
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

/// Loads config and data; by default batches have one shard per process.
void load_inputs(Training& training, const std::string& config, std::vector<std::string> assignments) {
  const int64_t processes = train::workers().size();
  training.load_config(config, assignments);
  if (training.shards() == 1 && processes > 1) {
    assignments.push_back(fmt::format("train.shards={}", processes));
    training.load_config(config, assignments);
  }
  training.load_data();
}

bool computes_bf16(Training& training) {
  const Fields fields = training.fields();
  return std::ranges::any_of(fields.list(), [](const Field& field) {
    return field.path == "model.precision" && *std::get<std::string*>(field.value) == "bf16";
  });
}

/// Identifier of the job's numerical results with the kernels for `isa`, besides config and data.
std::string bits_of(Training& training, const std::string& isa) {
  return ops::bits_of(isa, computes_bf16(training));
}

/// Warns that kernels without bf16 instructions compute in float32 and also convert each number.
void warn_of_slow_bf16(Training& training) {
  const std::string isa = ops::active_isa();
  if (computes_bf16(training) && ops::bits_of(isa, true) == ops::bits_of(isa, false))
    spdlog::warn(
        "model.precision = bf16: this CPU has no bf16 instructions; float32 is faster here, bf16 needs less "
        "memory");
}

/// Data error unless all ranks have the same config, data and kernels as rank 0.
void require_equal_inputs(Training& training) {
  const train::Common inputs[] = {{"settings", training.config_toml()},
                                  {"data", training.data_hash()},
                                  {"loops (MODEWISE_ISA)", bits_of(training, ops::active_isa())}};
  train::check_equal_on_all_ranks(train::workers(), inputs);
}

/// Warns if the run began with kernels that are not bit-exact with the current ones.
void compare_instruction_sets(const train::RunFolder& folder, Training& training) {
  if (!std::filesystem::exists(folder.file("manifest.json"))) return;
  const auto manifest = folder.read_manifest();
  const auto began = manifest.find("instruction_set");
  if (began == manifest.end() || !began->is_string()) return;
  const std::string then = began->get<std::string>(), now = ops::active_isa();
  if (bits_of(training, then) != bits_of(training, now))
    spdlog::warn(
        "{} began with kernels for {}: with those for {} the results are not bit-exact "
        "(MODEWISE_ISA={} selects them if the CPU supports them)",
        folder.path().string(), then, now, then);
}

/// Files and folders in the job's settings.
std::vector<std::string> paths_of(Training& training) {
  std::vector<std::string> paths;
  const auto add = [&](const Field& field, const std::string& text) {
    if (!text.empty() && field.rule.is_path(text)) paths.push_back(text);
  };
  const Fields fields = training.fields();
  for (const Field& field : fields.list()) {
    if (field.rule.is_path == nullptr) continue;
    if (auto* const* one = std::get_if<std::string*>(&field.value)) add(field, **one);
    if (auto* const* list = std::get_if<std::vector<std::string>*>(&field.value))
      for (const std::string& text : **list) add(field, text);
  }
  return paths;
}

/// Opens the run to resume and loads its config, or creates a new run folder (on rank 0).
train::RunFolder load(const TaskSpec& kind, const TrainRequest& request, Training& training) {
  train::Workers& workers = train::workers();
  if (!request.resume.empty()) {
    train::RunFolder folder = train::RunFolder::open(request.resume);
    folder.require_task(kind.name);
    if (workers.is_rank_zero()) folder.lock();
    load_inputs(training, folder.file("config.toml").string(), request.assignments);
    compare_instruction_sets(folder, training);
    require_equal_inputs(training);
    return folder;
  }
  load_inputs(training, request.config, request.assignments);
  require_equal_inputs(training);
  if (!workers.is_rank_zero()) {
    workers.all_reduce_max(0);  // barrier: rank 0 has created the run
    return train::RunFolder::open(request.out);
  }
  train::RunFolder folder =
      request.out.empty()
          ? train::RunFolder::create_numbered("runs", training.run_stem())
          : train::RunFolder::create(request.out, request.exist_ok, request.inputs, paths_of(training));
  folder.begin({kind.name, request.command_line, training.seed(), at::get_num_threads(), training.data_hash(),
                training.reads_test(), request.inputs},
               training.config_toml(), training.describe_data());
  workers.all_reduce_max(0);
  return folder;
}

/// Whether a run that was trained without its test split has been evaluated on it since.
bool evaluated_on_test(const train::RunFolder& folder, const Training& training) {
  if (training.reads_test() || !std::filesystem::exists(folder.file("metrics.json"))) return false;
  try {
    return folder.read_metrics().contains("test");
  } catch (const Error&) {  // rewritten at the end of training
    return false;
  }
}

/// Evaluates the test split again, because the end of training has replaced metrics.json.
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
  return read ? fmt::format("{} test", count) : "test unread";
}

Result run_training(const TaskSpec& kind, const TrainRequest& given) {
  const TrainRequest request = of_group(given);
  const std::unique_ptr<Training> training = kind.training();
  const bool resume = !request.resume.empty();
  train::RunFolder folder = load(kind, request, *training);
  if (train::workers().is_rank_zero()) {
    folder.start_log();
    warn_of_slow_bf16(*training);
  }
  training->announce();
  spdlog::info("{}", cost_text(training->cost()));
  const bool evaluated =
      train::workers().all_reduce_max(resume && evaluated_on_test(folder, *training) ? 1 : 0) != 0;
  TrainedRun trained = training->train(folder, resume, request.accept_changes);
  if (trained.training.stopped_by_signal()) throw Stopped{trained.training.signal};
  if (evaluated) evaluate_again(kind, folder, trained);
  if (!train::workers().is_rank_zero()) return {};
  if (resume && request.accept_changes) folder.write_config(training->config_toml());
  if (training->wants_report()) training->write_report(folder);
  const std::string path = folder.path().string();
  std::string text = training->summary(trained.metrics) + fmt::format("\nrun folder: {}\n", path);
  trained.metrics["run"] = path;
  return {std::move(trained.metrics), std::move(text)};
}

}  // namespace modewise::tasks
