#include "modewise/data/series_classification/series_samples.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

namespace modewise::data {

SeriesSamples::SeriesSamples(int64_t variables, std::vector<float> values, std::span<const int32_t> lengths)
    : variables_(variables), values_(std::make_shared<std::vector<float>>(std::move(values))) {
  for (const int32_t steps : lengths) add_length(steps);
}

size_t SeriesSamples::begin(size_t sample) const {
  if (ends_.empty()) return sample * static_cast<size_t>(equal_steps_ * variables_);
  return sample == 0 ? 0 : ends_[sample - 1];
}

int64_t SeriesSamples::steps(size_t sample) const {
  if (ends_.empty()) return equal_steps_;
  return static_cast<int64_t>(ends_[sample] - begin(sample)) / variables_;
}

bool SeriesSamples::all_have(int64_t steps) const {
  return longest() == steps && shortest() == steps;
}

int64_t SeriesSamples::longest() const {
  int64_t length = ends_.empty() ? equal_steps_ : 0;
  for (size_t i = 0; i < ends_.size(); ++i) length = std::max(length, steps(i));
  return length;
}

int64_t SeriesSamples::shortest() const {
  int64_t length = ends_.empty() ? equal_steps_ : steps(0);
  for (size_t i = 0; i < ends_.size(); ++i) length = std::min(length, steps(i));
  return length;
}

std::span<float> SeriesSamples::values(size_t sample) const {
  return std::span(*values_).subspan(begin(sample), static_cast<size_t>(variables_ * steps(sample)));
}

at::Tensor SeriesSamples::operator[](size_t sample) const {
  return at::from_blob(
      values(sample).data(), {variables_, steps(sample)}, [kept = values_](void*) {}, at::kFloat);
}

void SeriesSamples::add_length(int64_t steps) {
  if (ends_.empty() && (count_ == 0 || steps == equal_steps_)) {
    equal_steps_ = steps;
  } else {
    for (size_t i = ends_.size(); i < count_; ++i)
      ends_.push_back((i + 1) * static_cast<size_t>(equal_steps_ * variables_));
    ends_.push_back(ends_.back() + static_cast<size_t>(steps * variables_));
  }
  ++count_;
}

void SeriesSamples::push_back(const at::Tensor& series) {
  if (count_ == 0) variables_ = series.size(0);
  const float* values = series.const_data_ptr<float>();
  values_->insert(values_->end(), values, values + series.numel());
  add_length(series.size(1));
}

void SeriesSamples::append(SeriesSamples other) {
  if (count_ == 0) {
    *this = std::move(other);
    return;
  }
  values_->reserve(values_->size() + other.values_->size());
  values_->insert(values_->end(), other.values_->begin(), other.values_->end());
  for (size_t i = 0; i < other.size(); ++i) add_length(other.steps(i));
}

void SeriesSamples::keep(std::span<const int64_t> samples) {
  SeriesSamples kept;
  kept.variables_ = variables_;
  kept.values_ = values_;
  size_t end = 0;
  for (const int64_t i : samples) {
    const std::span<float> from = values(static_cast<size_t>(i));
    std::copy(from.begin(), from.end(), values_->begin() + static_cast<std::ptrdiff_t>(end));
    end += from.size();
    kept.add_length(steps(static_cast<size_t>(i)));
  }
  values_->resize(end);
  *this = std::move(kept);
}

}  // namespace modewise::data
