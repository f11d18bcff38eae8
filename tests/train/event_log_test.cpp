// TensorBoard log of a training: scalars of steps and evaluations, each step once across interruptions.

#include "modewise/train/loop/event_log.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/io/tokenizers/wire_reader.h"
#include "modewise/train/checkpoint/checkpoint.h"
#include "trainer_fixture.h"

namespace modewise::train {
namespace {

namespace fs = std::filesystem;

struct ReadEvent {
  int64_t step = 0;
  bool version = false, start = false;
  std::map<std::string, float> numbers;
  std::map<std::string, std::string> images;
};

void read_value(const io::WireReader& event, const io::WireReader::Field& summary, ReadEvent& out) {
  io::WireReader values = event.inside(summary);
  for (io::WireReader::Field value; values.next(value);) {
    io::WireReader parts = values.inside(value);
    std::string tag;
    for (io::WireReader::Field part; parts.next(part);) {
      if (part.number == 1) tag = parts.text(part);
      if (part.number == 2) out.numbers[tag] = parts.number(part);
      if (part.number == 4) out.images[tag] = part.bytes;
    }
  }
}

std::vector<ReadEvent> events_in(const fs::path& path) {
  const std::string bytes = read_file(path), source = path.string();
  std::vector<ReadEvent> events;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    io::WireReader event(std::string_view(bytes).substr(at + 12, length), at + 12, source);
    ReadEvent& out = events.emplace_back();
    for (io::WireReader::Field field; event.next(field);) {
      if (field.number == 2) out.step = static_cast<int64_t>(field.value);
      if (field.number == 3) out.version = true;
      if (field.number == 5) read_value(event, field, out);
      if (field.number == 7) out.start = true;
    }
    at += 16 + length;
  }
  return events;
}

std::vector<fs::path> event_files(const RunFolder& run) {
  std::vector<fs::path> files;
  for (const fs::path& entry : entries_of(run.path()))
    if (entry.filename().string().starts_with(io::kEventFilePrefix)) files.push_back(entry);
  std::ranges::sort(files);
  return files;
}

/// (tag, step) -> value over all files; a start purges its step and later ones of earlier files.
std::map<std::string, std::map<int64_t, float>> curves_of(const RunFolder& run) {
  std::map<std::string, std::map<int64_t, float>> curves;
  for (const fs::path& file : event_files(run))
    for (const ReadEvent& event : events_in(file)) {
      if (event.start)
        for (auto& [tag, curve] : curves) curve.erase(curve.lower_bound(event.step), curve.end());
      for (const auto& [tag, value] : event.numbers) curves[tag][event.step] = value;
    }
  return curves;
}

TrainConfig logged_config() {
  TrainConfig config = small_config();
  config.tensorboard = true;
  return config;
}

class EventLogTest : public TrainerTest {};

TEST_F(EventLogTest, IsWrittenWhereItIsAskedFor) {
  train(small_config());
  EXPECT_TRUE(event_files(run).empty());
}

TEST_F(EventLogTest, HoldsTheFiguresOfStepsAndEvaluations) {
  TrainConfig config = logged_config();
  config.batch_size = 150;  // an epoch is one step with all samples
  config.schedule.name = "step";
  config.schedule.step_factor = 0.5;
  config.clip_norm = 1e-3;  // the logged norm is before clipping
  task.dropout = 0;
  ToyTask by_hand;
  by_hand.dropout = 0;
  std::vector<int64_t> all(150);
  std::iota(all.begin(), all.end(), 0);
  const at::Tensor loss = by_hand.loss(*by_hand.load(all), 0, 0);
  loss.backward();
  double squares = 0;
  for (const NamedTensor& one : by_hand.trained())
    squares += std::pow(at::linalg_vector_norm(one.tensor.grad().to(at::kDouble)).item<double>(), 2);

  train(config);
  const auto curves = curves_of(run);
  EXPECT_NEAR(curves.at("train/loss").at(1), loss.item<double>(), 2e-6 * loss.item<double>());
  EXPECT_NEAR(curves.at("train/gradient_norm").at(1), std::sqrt(squares), 2e-6 * std::sqrt(squares));
  EXPECT_GT(curves.at("train/gradient_norm").at(1), 0.01);
  EXPECT_EQ(curves.at("train/learning_rate"),
            (std::map<int64_t, float>{{1, 1e-3f}, {2, 5e-4f}, {3, 2.5e-4f}}));
  const auto lines = run.read_metric_lines();
  ASSERT_EQ(lines.size(), 3u);
  for (const auto& line : lines) {
    const int64_t step = line.at("step");
    EXPECT_EQ(curves.at("validation/mse").at(step), line.at("val_mse").get<float>());
    EXPECT_EQ(curves.at("validation/mae").at(step), line.at("val_mae").get<float>());
    EXPECT_EQ(curves.at("train/loss").at(step), line.at("train_loss").get<float>());
  }
  EXPECT_EQ(curves.size(), 5u);
}

TEST_F(EventLogTest, ChangesNoByteOfTheTraining) {
  train(logged_config());
  const RunFolder other = RunFolder::create(scratch / "other");
  RunFolder silent = other;
  ToyTask again;
  train::train(again, small_config(), silent, false);
  const auto files = entries_of(CheckpointStore(run.checkpoints()).newest()->folder);
  EXPECT_GE(files.size(), 5u);
  for (const fs::path& file : files)
    EXPECT_EQ(read_file(file),
              read_file(other.checkpoints() / file.parent_path().filename() / file.filename()))
        << file.filename();
  EXPECT_EQ(read_file(run.file("metrics.jsonl")), read_file(other.file("metrics.jsonl")));
  EXPECT_EQ(read_file(run.file("metrics.json")), read_file(other.file("metrics.json")));
}

TEST_F(EventLogTest, OfARunThatWasStoppedHoldsEachStepOnce) {
  train(logged_config());
  const auto wanted = curves_of(run);
  EXPECT_EQ(wanted.at("train/loss").size(), 15u);

  RunFolder stopped = RunFolder::create(scratch / "stopped");
  const std::vector<uint64_t> stops = {2, 8};
  for (size_t part = 0; part < 3; ++part) {
    ToyTask fresh;
    fresh.on_loss = [&](uint64_t step) {
      if (part < stops.size() && step == stops[part]) set_stop_signal(15);
    };
    train::train(fresh, logged_config(), stopped, part > 0);
    set_stop_signal(0);
  }
  const std::vector<fs::path> files = event_files(stopped);
  ASSERT_EQ(files.size(), 3u);
  for (size_t part = 0; part < 3; ++part) {
    const std::vector<ReadEvent> events = events_in(files[part]);
    EXPECT_TRUE(events[0].version);
    EXPECT_TRUE(events[1].start);
    EXPECT_EQ(events[1].step, part == 0 ? 1 : static_cast<int64_t>(stops[part - 1]) + 2);
  }
  EXPECT_EQ(curves_of(stopped), wanted);
}

TEST(EventLog, KeepsAboutTenThousandStepsOfALongTraining) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch / "run");
  {
    EventLog log(run.path(), 0, 25'001);
    for (int64_t step = 1; step <= 25'001; ++step) log.add_step(step, {static_cast<double>(step), 0, 0});
  }
  const auto loss = curves_of(run).at("train/loss");
  EXPECT_EQ(loss.size(), 8333u);
  EXPECT_EQ(loss.begin()->first, 3);
  EXPECT_EQ(loss.rbegin()->first, 24'999);
}

TEST(EventLog, NamesMetricsByGroup) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch / "run");
  EventLog log(run.path(), 0, 1);
  log.add_evaluation(7, {{"val_mse_96", 1}, {"rank_mode0", 2}, {"other", 3}},
                     std::vector<Image>{{"a/b", 3, 2, "png"}});
  const ReadEvent event = events_in(event_files(run).front()).back();
  EXPECT_EQ(event.step, 7);
  EXPECT_EQ(event.numbers, (std::map<std::string, float>{
                               {"validation/mse_96", 1}, {"stable_rank/mode0", 2}, {"evaluation/other", 3}}));
  EXPECT_EQ(event.images,
            (std::map<std::string, std::string>{{"a/b", "\x08\x02\x10\x03\x18\x03\x22\x03png"}}));
}

}  // namespace
}  // namespace modewise::train
