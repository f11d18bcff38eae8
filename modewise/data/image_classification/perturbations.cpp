#include "modewise/data/image_classification/perturbations.h"

#include <ATen/Parallel.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/nearest_name.h"
#include "modewise/io/images/image_resize.h"
#include "modewise/io/images/jpeg.h"

namespace modewise::data {
namespace {

constexpr int64_t kMaxRate = 2000;

float unit_clipped(double value) {
  return static_cast<float>(std::clamp(value, 0.0, 1.0));
}

/// Uniform in [0, 1), 53 bits.
double fine_uniform(const RandomStream& stream, uint64_t index) {
  const uint64_t words = uint64_t{stream.word(2 * index)} << 32 | stream.word(2 * index + 1);
  return static_cast<double>(words >> 11) * 0x1p-53;
}

void add_normal_noise(const PerturbedImage& image, double stddev, const RandomStream& stream) {
  for (size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = unit_clipped(image.values[i] + stddev * stream.normal(i));
}

void gaussian_noise(const PerturbedImage& image, double variance, const RandomStream& stream) {
  add_normal_noise(image, std::sqrt(variance), stream);
}

/// In-place flip: swaps opposite pixels.
void flip(const PerturbedImage& image, bool left_right, bool up_down) {
  const int64_t pixels = image.height * image.width;
  for (int64_t at = 0; at < pixels; ++at) {
    const int64_t y = at / image.width, x = at % image.width;
    const int64_t other =
        (up_down ? image.height - 1 - y : y) * image.width + (left_right ? image.width - 1 - x : x);
    if (other <= at) continue;
    for (int64_t c = 0; c < image.channels; ++c)
      std::swap(image.values[static_cast<size_t>(at * image.channels + c)],
                image.values[static_cast<size_t>(other * image.channels + c)]);
  }
}

void flip_horizontal(const PerturbedImage& image, double, const RandomStream&) {
  flip(image, true, false);
}
void flip_vertical(const PerturbedImage& image, double, const RandomStream&) {
  flip(image, false, true);
}
void flip_both(const PerturbedImage& image, double, const RandomStream&) {
  flip(image, true, true);
}

/// Cosine and sine, exact at multiples of 90 degrees, so that such rotations only move pixels.
std::array<double, 2> direction_of(double degrees) {
  const double turn = degrees - 360 * std::floor(degrees / 360), quarters = turn / 90;
  constexpr std::array<std::array<double, 2>, 4> kQuarters = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  if (quarters == std::floor(quarters)) return kQuarters[static_cast<size_t>(quarters) % 4];
  const double angle = turn * std::numbers::pi / 180;
  return {std::cos(angle), std::sin(angle)};
}

/// Rotation counterclockwise about the centre; bilinear between pixel centres, 0 beyond the edge.
void rotation(const PerturbedImage& image, double degrees, const RandomStream&) {
  const auto [cosine, sine] = direction_of(degrees);
  const std::vector<float> from(image.values.begin(), image.values.end());
  const double middle_y = static_cast<double>(image.height - 1) / 2,
               middle_x = static_cast<double>(image.width - 1) / 2;
  for (int64_t at = 0; at < image.height * image.width; ++at) {
    const double dy = static_cast<double>(at / image.width) - middle_y,
                 dx = static_cast<double>(at % image.width) - middle_x;
    const double y = sine * dx + cosine * dy + middle_y, x = cosine * dx - sine * dy + middle_x;
    const double top = std::floor(y), left = std::floor(x);
    for (int64_t c = 0; c < image.channels; ++c) {
      double sum = 0;
      for (const int corner : {0, 1, 2, 3}) {
        const double row = top + corner / 2, column = left + corner % 2;
        const double weight = (1 - std::abs(y - row)) * (1 - std::abs(x - column));
        if (row < 0 || column < 0 || row >= static_cast<double>(image.height) ||
            column >= static_cast<double>(image.width) || weight == 0)
          continue;
        const int64_t pixel = static_cast<int64_t>(row) * image.width + static_cast<int64_t>(column);
        sum += weight * static_cast<double>(from[static_cast<size_t>(pixel * image.channels + c)]);
      }
      image.values[static_cast<size_t>(at * image.channels + c)] = static_cast<float>(sum);
    }
  }
}

/// The parameter of a severity, 1 to 5.
double parameter_of(double severity, const std::array<double, 5>& parameters) {
  return parameters[static_cast<size_t>(severity) - 1];
}

void sensor_noise(const PerturbedImage& image, double severity, const RandomStream& stream) {
  add_normal_noise(image, parameter_of(severity, {0.04, 0.06, 0.08, 0.09, 0.10}), stream);
}

void shot_noise(const PerturbedImage& image, double severity, const RandomStream& stream) {
  const double photons = parameter_of(severity, {500, 250, 100, 75, 50});
  for (size_t i = 0; i < image.values.size(); ++i) {
    const int64_t count = poisson(image.values[i] * photons, fine_uniform(stream, i));
    image.values[i] = unit_clipped(static_cast<double>(count) / photons);
  }
}

/// Sets a fraction of the values of each channel to 0 or 1 (salt and pepper).
void impulse_noise(const PerturbedImage& image, double severity, const RandomStream& stream) {
  const double share = parameter_of(severity, {0.01, 0.02, 0.03, 0.05, 0.07});
  for (size_t i = 0; i < image.values.size(); ++i)
    if (const double draw = fine_uniform(stream, i); draw < share)
      image.values[i] = draw < share / 2 ? 0.0F : 1.0F;
}

/// Convolves one axis with `weights`; edge pixels are repeated. `stride` is that of the axis in pixels.
void blur_along(const PerturbedImage& image, const std::vector<double>& weights, int64_t length,
                int64_t stride) {
  const std::vector<float> from(image.values.begin(), image.values.end());
  const auto reach = static_cast<int64_t>(weights.size() / 2);
  for (int64_t i = 0; i < std::ssize(image.values); ++i) {
    const int64_t place = i / image.channels / stride % length;
    double sum = 0;
    for (int64_t d = -reach; d <= reach; ++d) {
      const int64_t step = std::clamp<int64_t>(place + d, 0, length - 1) - place;
      sum += weights[static_cast<size_t>(d + reach)] *
             static_cast<double>(from[static_cast<size_t>(i + step * stride * image.channels)]);
    }
    image.values[static_cast<size_t>(i)] = unit_clipped(sum);
  }
}

/// Truncated at four standard deviations.
void gaussian_blur(const PerturbedImage& image, double severity, const RandomStream&) {
  const double stddev = parameter_of(severity, {0.4, 0.6, 0.7, 0.8, 1});
  const auto reach = static_cast<int64_t>(4 * stddev + 0.5);
  std::vector<double> weights;
  double sum = 0;
  for (int64_t d = -reach; d <= reach; ++d) {
    weights.push_back(std::exp(-0.5 * static_cast<double>(d * d) / (stddev * stddev)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  blur_along(image, weights, image.height, image.width);
  blur_along(image, weights, image.width, 1);
}

/// Scales towards the mean of each channel.
void contrast(const PerturbedImage& image, double severity, const RandomStream&) {
  const double kept = parameter_of(severity, {0.75, 0.5, 0.4, 0.3, 0.15});
  const auto channels = static_cast<size_t>(image.channels);
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (size_t i = c; i < image.values.size(); i += channels) sum += image.values[i];
    const double mean = sum * static_cast<double>(channels) / static_cast<double>(image.values.size());
    for (size_t i = c; i < image.values.size(); i += channels)
      image.values[i] = unit_clipped((image.values[i] - mean) * kept + mean);
  }
}

/// Adds to the value of HSV, the largest channel; the other two keep their proportion, black becomes grey.
void brightness(const PerturbedImage& image, double severity, const RandomStream&) {
  const double added = parameter_of(severity, {0.05, 0.1, 0.15, 0.2, 0.3});
  const auto channels = static_cast<size_t>(image.channels);
  for (size_t i = 0; i < image.values.size(); i += channels) {
    const auto pixel = image.values.subspan(i, channels);
    const double value = *std::max_element(pixel.begin(), pixel.end()),
                 brighter = std::min(value + added, 1.0);
    for (float& x : pixel) x = value > 0 ? unit_clipped(x * (brighter / value)) : unit_clipped(brighter);
  }
}

io::Image in_8_bits(const PerturbedImage& image) {
  io::Image out{image.height, image.width, image.channels, {}};
  for (const float value : image.values)
    out.pixels.push_back(static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0F, 1.0F))));
  return out;
}

void take_8_bits(const PerturbedImage& image, const io::Image& from) {
  for (size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = static_cast<float>(from.pixels[i]) / 255.0F;
}

void jpeg_compression(const PerturbedImage& image, double severity, const RandomStream&) {
  const auto quality = static_cast<int>(parameter_of(severity, {80, 65, 58, 50, 40}));
  const std::string file = io::format_jpeg(in_8_bits(image), quality);
  take_8_bits(image, io::parse_jpeg(as_bytes(file), "an image in memory"));
}

void pixelate(const PerturbedImage& image, double severity, const RandomStream&) {
  const double kept = parameter_of(severity, {0.95, 0.9, 0.85, 0.75, 0.65});
  const auto fewer = [&](int64_t size) {
    return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(size) * kept));
  };
  const io::Image small =
      io::resized(in_8_bits(image), fewer(image.height), fewer(image.width), io::ResizeFilter::box);
  take_8_bits(image, io::resized(small, image.height, image.width, io::ResizeFilter::box));
}

std::vector<Perturbation> table() {
  const std::vector<double> severities = {1, 2, 3, 4, 5};
  return {
      {"gaussian_noise",
       "Gaussian noise of a variance, clipped to 0 and 1",
       "variance",
       {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10},
       gaussian_noise},
      {"flip_horizontal", "horizontal flip", "", {0}, flip_horizontal},
      {"flip_vertical", "vertical flip", "", {0}, flip_vertical},
      {"flip_both", "horizontal and vertical flip", "", {0}, flip_both},
      {"rotation",
       "rotation counterclockwise about the centre, bilinear, black beyond the edge",
       "degrees",
       {30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330},
       rotation},
      {"sensor_noise", "Gaussian noise of CIFAR-10-C", "severity", severities, sensor_noise},
      {"shot_noise", "Poisson noise of photon counts", "severity", severities, shot_noise},
      {"impulse_noise", "random values set to 0 or 1", "severity", severities, impulse_noise},
      {"gaussian_blur", "Gaussian blur", "severity", severities, gaussian_blur},
      {"contrast", "reduced contrast", "severity", severities, contrast},
      {"brightness", "increased brightness", "severity", severities, brightness},
      {"jpeg", "JPEG compression", "severity", severities, jpeg_compression},
      {"pixelate", "reduced resolution", "severity", severities, pixelate},
  };
}

void check_strength(const Perturbation& perturbation, double strength) {
  const std::string& measure = perturbation.measure;
  const bool severity = measure == "severity";
  const bool fits = severity          ? strength >= 1 && strength <= 5 && strength == std::floor(strength)
                    : measure.empty() ? strength == 0
                    : measure == "variance" ? strength >= 0 && strength <= 100
                                            : std::abs(strength) <= 1e6;
  require(fits, ErrorKind::usage, "{}: expected {}, got {}", perturbation.name,
          severity                ? "a severity of 1, 2, 3, 4 or 5"
          : measure.empty()       ? "no strength (0)"
          : measure == "variance" ? "a variance from 0 to 100"
                                  : "degrees within a million",
          strength);
}

}  // namespace

const std::vector<Perturbation>& perturbations() {
  static const std::vector<Perturbation> all = table();
  return all;
}

const Perturbation& find_perturbation(std::string_view name) {
  std::vector<std::string> names;
  for (const Perturbation& perturbation : perturbations()) {
    if (perturbation.name == name) return perturbation;
    names.push_back(perturbation.name);
  }
  fail(ErrorKind::usage, "there is no perturbation '{}'{}; there are {}", name,
       nearest_name_hint(name, names), fmt::join(names, ", "));
}

at::Tensor perturbed(const Perturbation& perturbation, double strength, const at::Tensor& images,
                     std::span<const int64_t> samples, uint64_t seed) {
  check_strength(perturbation, strength);
  require(images.dim() == 4 && images.scalar_type() == at::kFloat && images.size(0) == std::ssize(samples),
          ErrorKind::internal, "perturbed: {} samples need as many images [B, H, W, C] of float32",
          samples.size());
  at::Tensor out = images.clone(at::MemoryFormat::Contiguous);
  float* values = out.mutable_data_ptr<float>();
  const int64_t size = images.numel() / std::max<int64_t>(1, images.size(0));
  at::parallel_for(0, images.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const PerturbedImage image{images.size(1), images.size(2), images.size(3),
                                 std::span(values + i * size, static_cast<size_t>(size))};
      const auto sample = static_cast<uint64_t>(samples[static_cast<size_t>(i)]);
      perturbation.apply(image, strength, {seed, RandomSite::perturbation, sample});
    }
  });
  return out;
}

int64_t poisson(double rate, double uniform) {
  require(rate >= 0 && rate <= kMaxRate, ErrorKind::internal, "poisson: the mean must be 0 to {}, got {}",
          kMaxRate, rate);
  static const std::vector<double> log_factorials = [] {
    std::vector<double> sums(kMaxRate + 1, 0);
    for (size_t k = 1; k < sums.size(); ++k) sums[k] = sums[k - 1] + std::log(static_cast<double>(k));
    return sums;
  }();
  if (rate == 0) return 0;
  const auto middle = static_cast<int64_t>(rate);
  const double first = std::exp(static_cast<double>(middle) * std::log(rate) - rate -
                                log_factorials[static_cast<size_t>(middle)]);
  double rest = uniform - first, above = first, below = first;
  int64_t high = middle, low = middle;
  while (rest >= 0) {
    above *= rate / static_cast<double>(++high);
    if ((rest -= above) < 0) return high;
    below *= static_cast<double>(low) / rate;
    --low;
    if (low >= 0 && (rest -= below) < 0) return low;
    // Rounding may leave a small remainder.
    if (above < 1e-300 && (low < 0 || below < 1e-300)) return middle;
  }
  return middle;
}

}  // namespace modewise::data
