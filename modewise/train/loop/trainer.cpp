#include "modewise/train/loop/trainer.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "modewise/core/claims.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/hash.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/ops/training/recompute_mode.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/checkpoint/tensor_file.h"
#include "modewise/train/checkpoint/train_state.h"
#include "modewise/train/checkpoint/training_files.h"
#include "modewise/train/distributed/shards.h"
#include "modewise/train/loop/event_log.h"
#include "modewise/train/loop/gradients.h"
#include "modewise/train/loop/metric_log.h"
#include "modewise/train/loop/optimizer.h"
#include "modewise/train/loop/prefetcher.h"
#include "modewise/train/loop/sample_order.h"
#include "modewise/train/loop/schedule.h"
#include "modewise/train/loop/time_estimate.h"
#include "modewise/train/loop/timing.h"
#include "modewise/train/loop/weight_average.h"

namespace modewise::train {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

const TrainConfig& validated(const TrainConfig& config, const Task& task, const Workers& workers) {
  config.validate();
  const int64_t samples = task.training_samples();
  require(config.shards >= workers.size(), ErrorKind::config,
          "train.shards = {} must be at least the number of processes, {}", config.shards, workers.size());
  require(config.epochs >= 0, ErrorKind::config,
          "train.epochs = {}: this task does not choose a number of epochs, set one", config.epochs);
  require(config.patience >= 0, ErrorKind::config,
          "train.patience = {}: this task does not choose a patience, set one", config.patience);
  require(config.epochs == 0 || samples > 0, ErrorKind::data, "there are no training samples");
  require(config.epochs == 0 || !config.drop_last || samples >= config.batch_size, ErrorKind::data,
          "{} training samples do not fill one batch of {}, and drop_last drops incomplete batches", samples,
          config.batch_size);
  return config;
}

class Trainer {
 public:
  Trainer(Task& task, const TrainConfig& config, RunFolder& run, Workers& workers);
  TrainResult train(bool resume, bool accept_changes, const std::function<void(bool steps_left)>& on_resume);

 private:
  void resume_from(const Checkpoint& checkpoint, bool accept_changes);
  /// Plans the remaining steps for epochs that had another number of steps before.
  void change_epochs(int64_t steps_before);
  int64_t planned_steps() const;
  Schedule planned_schedule() const;
  TrainResult loop();
  void write_timing();
  void take_step(Prefetcher& batches);
  double backward_step(Prefetcher& batches);
  void evaluate();
  Metrics task_metrics();
  void append_line(const Metrics& metrics);
  bool is_evaluation_step(int64_t step) const;
  bool evaluation_pending() const {
    return state_.evaluated_step < state_.step && is_evaluation_step(state_.step);
  }
  bool early_stopped() const {
    return config_.patience > 0 && state_.without_improvement >= config_.patience;
  }
  bool steps_left() const { return state_.step < total_steps_ && !early_stopped(); }
  bool done() const { return !steps_left() && !evaluation_pending(); }
  bool checkpoint_due();
  /// The stop signal received by any of the workers; 0: none.
  int agreed_signal();
  /// Data error unless all ranks have the same weights.
  void require_equal_weights();
  void save();
  TrainingParts parts() { return {task_, config_, optimizer_, average_, best_weights_, state_, identity_}; }
  void announce_evaluation() const;
  TrainResult result(StopReason reason, int signal) const;
  [[noreturn]] void diverged(const std::string& what) const;
  [[noreturn]] void loss_diverged(double loss) const;
  /// The largest batch, by halving train.batch_size, whose step fits the device; 0: none.
  int64_t largest_batch_that_fits();
  [[noreturn]] void out_of_memory(const c10::Error& error);
  /// "the checkpoint of step 40 is intact".
  std::string kept_checkpoint() const {
    return saved_.first < 0 ? "no checkpoint was saved yet"
                            : fmt::format("the checkpoint of step {} is intact", saved_.first);
  }
  double epochs_done() const { return order_.epochs(state_.step); }

  Task& task_;
  const TrainConfig config_;
  RunFolder& run_;
  const std::string identity_;
  Workers& workers_;
  const CheckpointStore store_;
  Optimizer optimizer_;
  TrainState state_;
  SampleOrder order_;
  ShardedStep sharded_;
  int64_t total_steps_;
  Schedule schedule_;
  std::optional<WeightAverage> average_;
  std::optional<MetricLog> metric_log_;
  std::optional<EventLog> events_;
  std::vector<NamedTensor> best_weights_;
  std::pair<int64_t, int64_t> saved_ = {-1, -1};  // step and evaluated_step of the last checkpoint
  Clock::time_point saved_at_ = Clock::now();
  double last_loss_ = 0;
  TimeEstimate estimate_;
  Timing timing_;        // of this process
  Json earlier_timing_;  // of those before
};

std::vector<double> rate_factors(Task& task) {
  std::vector<double> factors;
  for (const NamedTensor& one : task.trained()) factors.push_back(task.rate_factor(one.name));
  return factors;
}

Trainer::Trainer(Task& task, const TrainConfig& config, RunFolder& run, Workers& workers)
    : task_(task),
      config_(validated(config, task, workers)),
      run_(run),
      identity_(run.identity()),
      workers_(workers),
      store_(run.checkpoints()),
      optimizer_(task.trained(), config.optimizer, rate_factors(task)),
      order_(task.training_samples(), config.batch_size, config.drop_last, config.accumulate,
             static_cast<uint64_t>(config.seed)),
      sharded_(task, config.shards, static_cast<uint64_t>(config.seed), workers),
      total_steps_(planned_steps()),
      schedule_(planned_schedule()),
      estimate_(order_.steps_per_epoch(), total_steps_, config.patience > 0) {
  if (config.ema_decay > 0) average_.emplace(task.trained(), task.tensors(), config.ema_decay);
}

int64_t Trainer::planned_steps() const {
  if (optimizer_.parameters().empty() || config_.epochs == 0) return 0;
  const int64_t steps = order_.first_step(config_.epochs);
  return config_.max_steps > 0 ? std::min(steps, config_.max_steps) : steps;
}

Schedule Trainer::planned_schedule() const {
  return {config_.schedule, config_.optimizer, order_.steps_per_epoch(), total_steps_, state_.epoch_offset};
}

TrainResult Trainer::train(bool resume, bool accept_changes,
                           const std::function<void(bool steps_left)>& on_resume) {
  workers_.set_timeout(std::chrono::milliseconds(static_cast<int64_t>(config_.timeout * 60'000)));
  if (workers_.is_rank_zero()) {
    run_.lock();
    run_.remove_leftovers();
    store_.remove_leftovers();
  }
  require(resume || store_.empty(), ErrorKind::cannot_create,
          "{} already contains checkpoints: resume that run with --resume {}", run_.path().string(),
          command_word(run_.path().string()));
  if (resume) {
    const std::filesystem::path lines = run_.file("metrics.jsonl");
    const auto check = [&](const Json& state) -> std::string {
      std::error_code error;
      const auto size = std::filesystem::file_size(lines, error);
      if (!error && static_cast<int64_t>(size) >= state.value("metrics_bytes", int64_t{0})) return "";
      return fmt::format("{} is shorter than recorded in the checkpoint of step {}", lines.string(),
                         state.value("step", int64_t{0}));
    };
    const auto checkpoint = newest_checkpoint(run_, check);
    if (checkpoint)
      resume_from(*checkpoint, accept_changes);
    else
      spdlog::info("no checkpoint in {} yet: starting from the first step", run_.path().string());
    if (on_resume) on_resume(!checkpoint || steps_left());
  }
  require_equal_weights();
  if (workers_.is_rank_zero()) metric_log_.emplace(run_.file("metrics.jsonl"), state_.metrics_bytes);
  if (workers_.is_rank_zero() && config_.tensorboard) events_.emplace(run_.path(), state_.step, total_steps_);
  if (const int64_t warmup = config_.schedule.warmup_steps; warmup > total_steps_ && !done())
    spdlog::warn(
        "the warm-up of {} steps is longer than the training of {}: the learning rate reaches only {:.0f} % "
        "of "
        "{}; reduce train.schedule.warmup_steps, or train longer",
        warmup, total_steps_, 100.0 * static_cast<double>(total_steps_) / static_cast<double>(warmup),
        config_.optimizer.learning_rate);
  return loop();
}

void Trainer::resume_from(const Checkpoint& checkpoint, bool accept_changes) {
  load_training(checkpoint, parts(), accept_changes);
  if (workers_.is_rank_zero()) store_.resume_from(checkpoint);
  if (workers_.is_rank_zero() && std::filesystem::exists(run_.file("timing.json")))
    earlier_timing_ = run_.read_timing();
  saved_ = {state_.step, state_.evaluated_step};
  change_epochs(saved_steps_per_epoch(checkpoint.state));
  spdlog::info("resuming from step {} of {} (epoch {:.2f})", state_.step, total_steps_, epochs_done());
}

void Trainer::change_epochs(int64_t steps_before) {
  const int64_t length = order_.steps_per_epoch(), position = state_.step + state_.epoch_offset;
  if (length != steps_before && length > 0 && steps_before > 0) {
    spdlog::info("steps per epoch were {} and are {}: continuing in the same part of the epoch", steps_before,
                 length);
    state_.epoch_offset =
        position / steps_before * length + position % steps_before * length / steps_before - state_.step;
  }
  order_.set_offset(state_.epoch_offset);
  total_steps_ = planned_steps();
  schedule_ = planned_schedule();
  estimate_ = TimeEstimate(length, total_steps_, config_.patience > 0);
}

TrainResult Trainer::loop() {
  const bool finished = done() && std::filesystem::exists(run_.file("metrics.json")) &&
                        run_.read_metrics().value("steps", int64_t{-1}) == state_.step;
  std::optional<Prefetcher> batches;
  std::optional<Progress> progress;
  task_.set_training(true);
  while (!done()) {
    if (const int signal = agreed_signal(); signal != 0) {
      progress.reset();
      save();
      spdlog::info("stopped by signal {} at step {} of {}, checkpoint saved: resume with --resume {}", signal,
                   state_.step, total_steps_, command_word(run_.path().string()));
      return result(StopReason::signal, signal);
    }
    if (evaluation_pending()) {
      try {
        Timing::measure(timing_.evaluations, [&] { evaluate(); });
      } catch (const EvaluationInterrupted&) {
        require(agreed_signal() != 0, ErrorKind::internal, "an evaluation was interrupted without a signal");
        continue;
      }
      if (progress) progress->clear();
      announce_evaluation();
      save();
      continue;
    }
    if (!progress) progress.emplace("train", total_steps_, "steps", state_.step);
    if (!batches)
      batches.emplace([this](int64_t index) { return sharded_.load(order_, index); },
                      order_.first_batch(state_.step) * sharded_.own_parts(),
                      order_.first_batch(total_steps_) * sharded_.own_parts(),
                      config_.prefetch * sharded_.own_parts());
    const double before = timing_.steps.seconds;
    try {
      Timing::measure(timing_.steps, [&] { take_step(*batches); });
    } catch (const c10::OutOfMemoryError& error) {
      out_of_memory(error);
    }
    if (const std::string text = estimate_.add(timing_.steps.seconds - before, state_.step); !text.empty()) {
      progress->clear();
      spdlog::info("{}", text);
    }
    progress->update(state_.step, fmt::format("loss {:.4g}", last_loss_));
    if (!evaluation_pending() && checkpoint_due()) save();
  }
  save();
  copy_into(task_.tensors(), best_weights_);
  task_.set_training(false);
  TrainResult end = result(early_stopped() ? StopReason::early_stopping : StopReason::finished, 0);
  end.finished_before = finished;
  if (!workers_.is_rank_zero() || finished) return end;
  write_timing();
  run_.write_metrics({{"steps", end.steps},
                      {"epochs", end.epochs},
                      {"stopped", early_stopped() ? "early_stopping" : "finished"},
                      {"criterion", task_.criterion().metric},
                      {"best_step", end.best_step},
                      {"best", to_json(end.best)},
                      {"last", to_json(end.last)}});
  return end;
}

void Trainer::write_timing() {
  Timing timing = timing_;
  timing.traffic = workers_.traffic();
  timing.seconds_waited += sharded_.seconds_waited();
  timing.add(earlier_timing_);
  run_.write_timing(timing.to_json());
}

int Trainer::agreed_signal() {
  int signal = 0;
  Elapsed elapsed;
  Timing::measure(elapsed, [&] { signal = static_cast<int>(workers_.all_reduce_max(stop_signal())); });
  // Count the wait as part of the last step; before the first step it is start-up time.
  if (timing_.steps.count > 0) {
    timing_.steps.seconds += elapsed.seconds;
    timing_.steps.processor_seconds += elapsed.processor_seconds;
    timing_.seconds_waited += elapsed.seconds;
  }
  return signal;
}

void Trainer::take_step(Prefetcher& batches) {
  optimizer_.clear_gradients();
  const double loss = backward_step(batches);
  const double norm = gradient_norm(optimizer_.parameters());
  if (!std::isfinite(norm)) {
    const std::string name = first_not_finite(optimizer_.parameters());
    diverged(name.empty() ? "the gradient norm is not finite"
                          : fmt::format("the gradient of parameter '{}' is not finite", name));
  }
  const double scale = config_.clip_norm > 0 ? std::min(1.0, config_.clip_norm / (norm + 1e-6)) : 1.0;
  const StepRate rate = schedule_.at(state_.step);
  optimizer_.step(rate, scale);
  ++state_.step;
  if (average_) average_->update(state_.step);
  last_loss_ = loss;
  state_.loss_sum += loss;
  ++state_.loss_steps;
  if (events_) events_->add_step(state_.step, {loss, rate.learning_rate, norm});
  if (config_.log_every_steps > 0 && state_.step % config_.log_every_steps == 0 &&
      !is_evaluation_step(state_.step))
    append_line({});
}

double Trainer::backward_step(Prefetcher& batches) {
  const ops::RecomputeGuard recompute(config_.recompute);
  const int64_t first = order_.first_batch(state_.step), last = order_.first_batch(state_.step + 1);
  int64_t samples = 0;
  for (int64_t index = first; index < last; ++index) samples += order_.samples_in(index);
  // Weight each batch by its samples, so that the step's loss is the mean over all of them.
  std::vector<double> weights;
  for (int64_t index = first; index < last; ++index)
    weights.push_back(static_cast<double>(order_.samples_in(index)) / static_cast<double>(samples));
  if (config_.shards > 1) {
    const double loss = sharded_.backward(sharded_.take(batches, first, last - first), first, weights);
    if (!std::isfinite(loss)) loss_diverged(loss);
    return loss;
  }
  double sum = 0;
  for (int64_t index = first; index < last; ++index) {
    const std::unique_ptr<Batch> batch = batches.next();
    require(batch != nullptr, ErrorKind::internal, "the task loaded no batch {}", index);
    const at::Tensor loss =
        task_.loss(*batch, static_cast<uint64_t>(config_.seed), static_cast<uint64_t>(index));
    require(loss.defined() && loss.numel() == 1 && loss.requires_grad(), ErrorKind::internal,
            "the task's loss must be a scalar with a gradient");
    const double value = loss.item<double>();
    if (!std::isfinite(value)) loss_diverged(value);
    const double weight = weights[static_cast<size_t>(index - first)];
    sum += weight * value;
    (last - first == 1 ? loss : loss * weight).backward();
  }
  return sum;
}

void Trainer::loss_diverged(double loss) const {
  const std::string name = first_not_finite(optimizer_.parameters(), true);
  require(state_.step > 0 || name.empty(), ErrorKind::data,
          "parameter '{}' is not finite before the first step: the weights that the training starts from are "
          "damaged",
          name);
  diverged(fmt::format("the loss is {}{}", loss,
                       name.empty() ? "" : fmt::format(" and parameter '{}' is not finite", name)));
}

int64_t Trainer::largest_batch_that_fits() {
  for (int64_t size = config_.batch_size / 2; size > 0; size /= 2) {
    std::vector<int64_t> samples(static_cast<size_t>(size));
    std::iota(samples.begin(), samples.end(), 0);
    try {
      const auto batch = task_.load(samples);
      task_.loss(*batch, static_cast<uint64_t>(config_.seed), 0).backward();
      return size;
    } catch (const c10::OutOfMemoryError&) {
      continue;
    } catch (const c10::ValueError&) {  // too small for batch normalisation
      return 0;
    }
  }
  return 0;
}

void Trainer::out_of_memory(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  const int64_t fitting = largest_batch_that_fits();
  const std::string smaller =
      fitting == 0 ? ""
                   : fmt::format("train.batch_size = {} (fits) with train.accumulate = {}, ", fitting,
                                 (config_.batch_size + fitting - 1) / fitting * config_.accumulate);
  fail(ErrorKind::general,
       "out of memory on the device at step {} with train.batch_size = {} ({}); {}. Less memory: {}{}a "
       "smaller model, or --device cpu",
       state_.step + 1, config_.batch_size, text.substr(0, text.find('\n')), kept_checkpoint(), smaller,
       config_.recompute ? "" : "train.recompute = true, ");
}

void Trainer::diverged(const std::string& what) const {
  fail(ErrorKind::general,
       "training diverged at step {}: {}; {}. A smaller learning rate or clip_norm may help", state_.step + 1,
       what, kept_checkpoint());
}

Metrics Trainer::task_metrics() {
  const at::NoGradGuard no_grad;
  const std::string damaged = first_not_finite(optimizer_.parameters(), true);
  require(
      damaged.empty(), ErrorKind::general,
      "training diverged: parameter '{}' is not finite at the evaluation of step {}; {}. A smaller learning "
      "rate or clip_norm may help",
      damaged, state_.step, kept_checkpoint());
  const auto set_training = [&](bool training) {
    if (average_) average_->swap();
    task_.set_training(training);
  };
  set_training(false);
  Metrics metrics;
  try {
    metrics = train::evaluate(task_, config_.shards, workers_);
  } catch (const EvaluationInterrupted&) {  // a checkpoint follows; any other error ends the training
    set_training(true);
    throw;
  }
  const Criterion criterion = task_.criterion();
  const double value = criterion.value(metrics);
  if (events_) events_->add_evaluation(state_.step, metrics, task_.images());
  require(
      std::isfinite(value) || !std::isfinite(metrics.find("val_loss").value_or(value)), ErrorKind::data,
      "{} is not defined on the validation split, whose loss is finite (AUC needs samples of two classes): "
      "select by another metric, or enlarge the validation split",
      criterion.metric);
  require(std::isfinite(value), ErrorKind::general,
          "training diverged: {} is {} at the evaluation of step {}. A smaller learning rate or clip_norm "
          "may help",
          criterion.metric, value, state_.step);
  const double sign = criterion.lower_is_better ? 1 : -1;
  const bool better =
      state_.best_step < 0 || sign * value < sign * criterion.value(state_.best) - config_.min_delta;
  const std::string& other = criterion.between_equals;
  const bool equal = !better && !other.empty() && value == criterion.value(state_.best) &&
                     metrics.at(other) < state_.best.at(other);
  state_.without_improvement = better ? 0 : state_.without_improvement + 1;
  if (better || equal) {
    state_.best_step = state_.step;
    state_.best = metrics;
    best_weights_ = copies_of(task_.tensors());
  }
  set_training(true);
  return metrics;
}

void Trainer::evaluate() {
  state_.last = task_metrics();
  state_.evaluated_step = state_.step;
  append_line(state_.last);
}

void Trainer::append_line(const Metrics& metrics) {
  Json line = {{"step", state_.step}, {"epoch", epochs_done()}};
  if (state_.loss_steps > 0) {
    line["train_loss"] = state_.loss_sum / static_cast<double>(state_.loss_steps);
    line["learning_rate"] = schedule_.at(state_.step - 1).learning_rate;
  }
  line.update(to_json(metrics));
  if (!metrics.empty()) line["best"] = state_.best_step == state_.step;
  if (metric_log_) {
    metric_log_->append(line);
    state_.metrics_bytes = metric_log_->length();
  }
  state_.loss_sum = 0;
  state_.loss_steps = 0;
}

void Trainer::announce_evaluation() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : state_.last) parts.push_back(fmt::format("{} {:.4g}", name, value));
  spdlog::info("step {} (epoch {:.2f})  {}{}", state_.step, epochs_done(), fmt::join(parts, "  "),
               state_.best_step == state_.step ? "  best so far" : "");
}

bool Trainer::is_evaluation_step(int64_t step) const {
  if (step >= total_steps_) return true;
  const int64_t length = order_.steps_per_epoch(), position = order_.position(step);
  if (position == 0) return false;
  const int64_t within = (position - 1) % length + 1;
  const int64_t count = std::min(config_.evaluations_per_epoch, length);
  return within * count / length > (within - 1) * count / length;
}

bool Trainer::checkpoint_due() {
  if (config_.checkpoint_every_steps > 0 && state_.step % config_.checkpoint_every_steps == 0) return true;
  const double minutes = std::chrono::duration<double>(Clock::now() - saved_at_).count() / 60;
  // Clocks differ: all ranks save as soon as one is due.
  return config_.checkpoint_every_minutes > 0 &&
         workers_.all_reduce_max(minutes >= config_.checkpoint_every_minutes ? 1 : 0) != 0;
}

void Trainer::require_equal_weights() {
  if (workers_.size() == 1) return;
  ContentHash hash;
  for (const NamedTensor& one : task_.tensors()) {
    const at::Tensor bytes = one.tensor.detach().cpu().contiguous();
    hash.add({static_cast<const std::byte*>(bytes.const_data_ptr()), bytes.nbytes()});
  }
  const Common weights[] = {{fmt::format("weights at step {}", state_.step), hash.text()}};
  check_equal_on_all_ranks(workers_, weights);
}

void Trainer::save() {
  const std::pair now(state_.step, state_.evaluated_step);
  if (saved_ == now) return;
  require_equal_weights();
  saved_ = now;
  saved_at_ = Clock::now();
  if (!workers_.is_rank_zero()) return;
  require_own_claim();
  metric_log_->sync();
  if (events_) events_->sync();
  save_training(store_, parts());
  write_timing();
}

TrainResult Trainer::result(StopReason reason, int signal) const {
  TrainResult result;
  result.reason = reason;
  result.is_rank_zero = workers_.is_rank_zero();
  result.signal = signal;
  result.steps = state_.step;
  result.epochs = epochs_done();
  result.best_step = state_.best_step;
  result.best = state_.best;
  result.last = state_.last;
  return result;
}

}  // namespace

TrainResult train(Task& task, const TrainConfig& config, RunFolder& run, bool resume, bool accept_changes,
                  Workers& workers, const std::function<void(bool steps_left)>& on_resume) {
  return Trainer(task, config, run, workers).train(resume, accept_changes, on_resume);
}

}  // namespace modewise::train
