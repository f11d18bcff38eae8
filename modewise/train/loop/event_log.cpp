#include "modewise/train/loop/event_log.h"

#include <algorithm>
#include <array>
#include <string>

namespace modewise::train {
namespace {

constexpr int64_t kSteps = 10'000;  // recorded per training, about

std::string tag_of(const std::string& metric) {
  if (metric.starts_with("val_")) return "validation/" + metric.substr(4);
  if (metric.starts_with("rank_")) return "stable_rank/" + metric.substr(5);
  return "evaluation/" + metric;
}

}  // namespace

EventLog::EventLog(const std::filesystem::path& folder, int64_t step, int64_t total_steps)
    : file_(folder), every_(std::max<int64_t>((total_steps + kSteps - 1) / kSteps, 1)) {
  file_.add_start(step + 1);
}

void EventLog::add_step(int64_t step, const StepFigures& figures) {
  if (step % every_ != 0) return;
  file_.add(step, std::array<io::EventValue, 3>{{{"train/loss", figures.loss},
                                                 {"train/learning_rate", figures.learning_rate},
                                                 {"train/gradient_norm", figures.gradient_norm}}});
}

void EventLog::add_evaluation(int64_t step, const Metrics& metrics, std::span<const Image> images) {
  std::vector<io::EventValue> values;
  for (const auto& [name, value] : metrics) values.push_back({tag_of(name), value});
  for (const Image& image : images)
    values.push_back({image.name, io::EventImage{image.width, image.height, image.png}});
  file_.add(step, values);
}

}  // namespace modewise::train
