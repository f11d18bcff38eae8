#include "modewise/tasks/text/masked.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/text/token_rows.h"
#include "modewise/models/text/cost.h"
#include "modewise/models/text/files.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/evaluation_mode.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Seed of the masks of evaluation windows, the same for all runs.
constexpr uint64_t kEvaluated = uint64_t{1} << 63;

struct MaskedBatch final : train::Batch {
  data::MaskedRows rows;
};

/// log p of the original tokens at the m masked positions, [m]; `right` counts correct predictions.
at::Tensor hidden_scores(models::MaskedLanguageModel& model, const data::MaskedRows& rows, int64_t* right) {
  const at::Device device = nn::device_of(model);
  const at::Tensor targets = rows.targets.flatten(), masked = targets.ge(0).nonzero().squeeze(1);
  const at::Tensor places = nn::placed(masked, device),  // found on the CPU: the device need not wait
      wanted = nn::placed(targets.index_select(0, masked), device);
  const at::Tensor hidden = model.hidden({nn::placed(rows.inputs, device), std::nullopt, {}}).flatten(0, 1);
  const at::Tensor logits = model.logits(hidden.index_select(0, places));
  if (right != nullptr) *right = logits.argmax(1).eq(wanted).sum().item<int64_t>();
  return at::log_softmax(logits, -1).gather(1, wanted.unsqueeze(1)).squeeze(1);
}

class MaskedTask final : public train::ModuleTask {
 public:
  explicit MaskedTask(const MaskedRun& run)
      : run_(run), train_(run.windows("train")), validation_(run.windows("validation")) {}

  torch::nn::Module& module() override { return run_.module(); }
  int64_t training_samples() const override { return train_.size(); }
  double rate_factor(std::string_view parameter) const override { return layer_rate(run_.config, parameter); }
  train::Criterion criterion() const override { return {"val_loss", true}; }
  std::string data_hash() const override { return run_.hash(); }

  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override {
    return load_batch(samples, 0);
  }
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t number) const override {
    const auto seed = static_cast<uint64_t>(run_.config.train.seed), step = static_cast<uint64_t>(number);
    const RandomStream shifts{seed, RandomSite::augmentation, step};
    const int64_t shift = shifts.word(0) % train_.context();
    auto batch = std::make_unique<MaskedBatch>();
    batch->rows = run_.masked(run_.framed_windows(train_, samples, shift), {seed, RandomSite::masking, step});
    return batch;
  }
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override {
    nn::set_dropout_step(run_.module(), seed, step);
    return hidden_scores(run_.model(), static_cast<const MaskedBatch&>(batch).rows, nullptr).mean().neg();
  }
  std::vector<double> loss_counts(const train::Batch& batch) const override {
    const at::Tensor& targets = static_cast<const MaskedBatch&>(batch).rows.targets;
    return {static_cast<double>(targets.ge(0).sum().item<int64_t>())};
  }
  at::Tensor sums(const train::Share& share) override {
    const MaskedScores scores = score_masked(run_, validation_, run_.config.text.validation_windows, share);
    return at::tensor({scores.loss, static_cast<double>(scores.asked), static_cast<double>(scores.right)},
                      at::kDouble);
  }
  train::Metrics metrics_of(const at::Tensor& sums) override {
    const double* sum = sums.const_data_ptr<double>();
    return {{"val_loss", sum[0] / sum[1]}, {"val_accuracy", sum[2] / sum[1]}};
  }

 private:
  const MaskedRun& run_;
  data::TokenWindows train_, validation_;
};

}  // namespace

ObjectiveDescription MaskedRun::about() const {
  return {.title = "Masked language model",
          .data = "FILE or FOLDER of texts",
          .select = "loss",
          .new_split = "all",
          .columns = {{"split", "split"},
                      {"windows", "windows"},
                      {"masked tokens", "samples"},
                      {"accuracy %", "accuracy", 1, 100},
                      {"loss", "loss", 3},
                      {"perplexity", "perplexity", 2}},
          .charts = {{"Masked-token accuracy", {"val_accuracy"}}, {"Losses", {"train_loss", "val_loss"}}}};
}

void MaskedRun::load_data(const std::string& path, bool with_test) {
  data::DocumentConfig wanted = config.data.documents();
  if (!path.empty()) {
    wanted.path = path;
    wanted.validation = wanted.test = "";
    wanted.split_ratios = {1, 0, 0};
  }
  const auto load = path.empty() ? data::load_named_splits : data::load_token_set;
  set_ = load(wanted, *reading.tokenizer, reading.tokenizer->file().string(), with_test);
  vocabulary_ = data::masking_vocabulary(*reading.tokenizer, reading.frame);
}

data::TokenWindows MaskedRun::windows(const std::string& part) const {
  const data::TokenStream stream(set_.part(part), std::nullopt, reading.frame.single.back().mark);
  require(stream.size() > 1, ErrorKind::data, "{}: there is no {} text", set_.source, part);
  const int64_t room = reading.length - std::ssize(reading.frame.single) + 1;
  require(room > 0, ErrorKind::config, "data.length = {} is too short for the special tokens",
          reading.length);
  return {part, stream, part == "train" ? room : std::min(room, stream.size() - 1)};
}

at::Tensor MaskedRun::framed_windows(const data::TokenWindows& windows, std::span<const int64_t> which,
                                     int64_t shift) const {
  const at::Tensor tokens = windows.gather(which, shift).inputs;
  std::vector<text::FramedText> rows;
  const auto n = static_cast<size_t>(tokens.size(1));
  for (int64_t i = 0; i < tokens.size(0); ++i)
    rows.push_back(
        data::framed(reading.frame, {tokens.const_data_ptr<int64_t>() + static_cast<size_t>(i) * n, n}));
  return data::side_by_side(rows, *reading.frame.padding).ids;
}

data::MaskedRows MaskedRun::masked(const at::Tensor& ids, const RandomStream& stream) const {
  return data::mask_rows(ids, vocabulary_, config.masking, stream);
}

MaskedScores score_masked(const MaskedRun& run, const data::TokenWindows& windows, int64_t maximum,
                          const train::Share& share) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(run.module());
  const int64_t count = maximum > 0 ? std::min(maximum, windows.size()) : windows.size();
  const int64_t last = share.last(count), step = run.config.text.evaluation_batch;
  const uint64_t seed = static_cast<uint64_t>(run.config.data.split_seed) ^ kEvaluated;
  MaskedScores scores;
  for (int64_t begin = share.first(count); begin < last; begin += step) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    std::vector<at::Tensor> inputs, targets;
    for (int64_t i = begin; i < std::min(begin + step, last); ++i) {
      const data::MaskedRows one = run.masked(run.framed_windows(windows, {&i, 1}, 0),
                                              {seed, RandomSite::masking, static_cast<uint64_t>(i)});
      inputs.push_back(one.inputs);
      targets.push_back(one.targets);
    }
    int64_t right = 0;
    const at::Tensor predicted = hidden_scores(run.model(), {at::cat(inputs), at::cat(targets)}, &right);
    scores.loss -= predicted.to(at::kDouble).sum().item<double>();
    scores.asked += predicted.numel();
    scores.right += right;
  }
  return scores;
}

Json MaskedRun::describe_data() const {
  const auto part = [](const data::TokenPart& one) -> Json {
    return {{"documents", one.spans.size()}, {"tokens", one.tokens()}, {"bytes", one.bytes()}};
  };
  return {{"source", set_.source},     {"hash", set_.hash},
          {"train", part(set_.train)}, {"validation", part(set_.validation)},
          {"test", part(set_.test)},   {"notes", set_.notes}};
}

void MaskedRun::log_data_notes() const {
  for (const std::string& note : set_.notes) spdlog::info("{}", note);
}

std::string MaskedRun::data_text(bool with_test) const {
  return fmt::format("{} training tokens in {} documents, {} validation, {}", set_.train.tokens(),
                     set_.train.spans.size(), set_.validation.tokens(),
                     test_count(with_test, static_cast<size_t>(set_.test.tokens())));
}

nn::ModelCost MaskedRun::cost() const {
  return models::text_cost(config.model, reading.length, {.masked = config.masking.share});
}

void MaskedRun::make_model(Purpose purpose) {
  model_ = models::make_masked_language_model(config.model, static_cast<uint64_t>(config.train.seed));
  if (purpose == Purpose::train) start_weights(config, *model_);
}

void MaskedRun::finish(Json& metrics) {
  ObjectiveRun::finish(metrics);
  metrics["pretrained_model"] = config.output.export_model ? Json("model") : Json();
}

void MaskedRun::save(const fs::path& folder) const {
  models::save_text_model(folder, *model_, {.tokenizer = reading.tokenizer});
}

std::unique_ptr<train::ModuleTask> MaskedRun::task() {
  return std::make_unique<MaskedTask>(*this);
}

Json MaskedRun::score(const std::string& split) const {
  const data::TokenWindows all = windows(split);
  const MaskedScores scores = score_masked(*this, all, 0);
  const auto asked = static_cast<double>(scores.asked);
  return {{"split", split},
          {"windows", all.size()},
          {"samples", scores.asked},
          {"accuracy", static_cast<double>(scores.right) / asked},
          {"loss", scores.loss / asked},
          {"perplexity", std::exp(scores.loss / asked)}};
}

void MaskedRun::add_sections(report::HtmlPage& page, const std::string& split) const {
  const at::NoGradGuard no_grad;
  const data::TokenWindows all = windows(split);
  const std::vector<int64_t> first = {0};
  const data::MaskedRows rows = masked(framed_windows(all, first, 0), {kEvaluated, RandomSite::masking, 0});
  const at::Tensor logits =
      model_->logits(model_->hidden({nn::placed(rows.inputs, nn::device_of(*model_)), std::nullopt, {}}))[0]
          .to(at::kCPU);
  const at::Tensor best = logits.argmax(1);
  report::Table table({{"position"}, {"predicted"}, {"true"}, {"probability"}});
  for (int64_t i = 0; i < rows.targets.size(1); ++i) {
    const int64_t was = rows.targets[0][i].item<int64_t>(), predicted = best[i].item<int64_t>();
    if (was < 0) continue;
    const auto word = [&](int64_t id) {
      const auto token = static_cast<text::Tokenizer::Id>(id);
      return id < reading.tokenizer->size() ? reading.tokenizer->decode(std::span(&token, 1)) : "(special)";
    };
    table.add_row(
        {i, word(predicted), word(was), report::Cell(at::softmax(logits[i], -1)[was].item<double>(), 3)});
  }
  page.add_section("Masked tokens of the first window");
  page.add_table(table, "Probability of the true token.");
}

Result MaskedRun::predict(const PredictRequest& request) {
  const bool exported = config.output.export_model;
  fail(ErrorKind::usage, "{} is a masked language model: {}", request.run,
       exported ? "start from it with modewise train text --data DATA --from " +
                      command_word(request.run + "/model")
                : "train it with output.export_model = true to start others from it");
}

NamedTexts MaskedRun::shown_texts(const std::string& split, int64_t count) const {
  const data::TokenWindows all = windows(split);
  NamedTexts out;
  for (const int64_t i : spread_samples(all.size(), count)) {
    const at::Tensor tokens = all.gather(std::span(&i, 1)).inputs;
    out.emplace_back(
        fmt::format("window {}", i),
        data::framed(reading.frame, {tokens.const_data_ptr<int64_t>(), static_cast<size_t>(tokens.numel())}));
  }
  return out;
}

}  // namespace modewise::tasks
