// Perturbations of test images: exact for moved pixels, by formula for others, and by the moments of their
// distribution for random ones.

#include "modewise/data/image_classification/perturbations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rot90.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/images/image_resize.h"
#include "modewise/io/images/jpeg.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Multiples of 1/255, smooth, over the whole range.
at::Tensor waves(int64_t samples, int64_t height, int64_t width, int64_t channels) {
  at::Tensor out = at::empty({samples, height, width, channels});
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t x = i / channels % width, y = i / channels / width % height;
    const double wave = 127.5 + 120 *
                                    std::sin(static_cast<double>(x) / 3 + static_cast<double>(i % channels)) *
                                    std::cos(static_cast<double>(y) / 5);
    out.mutable_data_ptr<float>()[i] = static_cast<float>(std::round(wave)) / 255.0F;
  }
  return out;
}

at::Tensor changed(const std::string& name, double strength, const at::Tensor& images, uint64_t seed = 1,
                   int64_t first = 0) {
  std::vector<int64_t> samples(static_cast<size_t>(images.size(0)));
  std::iota(samples.begin(), samples.end(), first);
  return perturbed(find_perturbation(name), strength, images, samples, seed);
}

double value(const at::Tensor& images, std::array<int64_t, 4> place) {
  return images[place[0]][place[1]][place[2]][place[3]].item<double>();
}

TEST(Perturbations, DependOnSeedAndSampleAlone) {
  const at::Tensor images = waves(5, 7, 9, 3);
  for (const Perturbation& perturbation : perturbations()) {
    const double strength = perturbation.strengths.back();
    const at::Tensor out = changed(perturbation.name, strength, images);
    EXPECT_EQ(out.sizes(), images.sizes());
    EXPECT_TRUE(at::equal(out, changed(perturbation.name, strength, images))) << perturbation.name;
    EXPECT_TRUE(
        at::equal(out.narrow(0, 2, 2), changed(perturbation.name, strength, images.narrow(0, 2, 2), 1, 2)))
        << perturbation.name;
    EXPECT_GE(out.min().item<float>(), 0) << perturbation.name;
    EXPECT_LE(out.max().item<float>(), 1) << perturbation.name;
    EXPECT_FALSE(at::equal(out, images)) << perturbation.name;
    EXPECT_TRUE(at::equal(images, waves(5, 7, 9, 3))) << perturbation.name;
  }
  for (const char* name : {"gaussian_noise", "sensor_noise", "shot_noise", "impulse_noise"}) {
    const double strength = find_perturbation(name).strengths.back();
    const at::Tensor same = at::full({2, 7, 9, 3}, 0.5), out = changed(name, strength, same);
    EXPECT_FALSE(at::equal(out, changed(name, strength, same, 2))) << name;
    EXPECT_FALSE(at::equal(out[0], out[1])) << name;
  }
}

TEST(Perturbations, TakeAnyShapeAndOneChannel) {
  for (const Perturbation& perturbation : perturbations())
    for (const auto& [height, width, channels] :
         std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {1, 1, 3}, {1, 17, 3}, {31, 2, 1}})
      for (const double strength : perturbation.strengths) {
        const at::Tensor out = changed(perturbation.name, strength, waves(1, height, width, channels));
        EXPECT_TRUE(out.ge(0).all().item<bool>()) << perturbation.name;
        EXPECT_TRUE(out.le(1).all().item<bool>()) << perturbation.name;
      }
}

TEST(Perturbations, RefuseOtherNamesAndStrengths) {
  EXPECT_EQ(perturbations().size(), 13U);
  EXPECT_THAT(error_of(ErrorKind::usage, [] { find_perturbation("shot_nose"); }),
              StartsWith("there is no perturbation 'shot_nose' (did you mean 'shot_noise'?); there are "
                         "gaussian_noise, flip_horizontal, "));
  const at::Tensor one = waves(1, 3, 3, 1);
  const auto refusal = [&](const std::string& name, double strength) {
    return error_of(ErrorKind::usage, [&] { changed(name, strength, one); });
  };
  EXPECT_EQ(refusal("contrast", 6), "contrast: expected a severity of 1, 2, 3, 4 or 5, got 6");
  EXPECT_EQ(refusal("contrast", 2.5), "contrast: expected a severity of 1, 2, 3, 4 or 5, got 2.5");
  EXPECT_EQ(refusal("jpeg", 0), "jpeg: expected a severity of 1, 2, 3, 4 or 5, got 0");
  EXPECT_EQ(refusal("gaussian_noise", -0.1), "gaussian_noise: expected a variance from 0 to 100, got -0.1");
  EXPECT_EQ(refusal("gaussian_noise", std::nan("")),
            "gaussian_noise: expected a variance from 0 to 100, got nan");
  EXPECT_EQ(refusal("gaussian_noise", 100.5), "gaussian_noise: expected a variance from 0 to 100, got 100.5");
  for (const double strength : {0.0, 100.0}) EXPECT_NO_THROW(changed("gaussian_noise", strength, one));
  for (const double strength : {-1e6, 1e6}) EXPECT_NO_THROW(changed("rotation", strength, one));
  for (const double strength : {1.0, 5.0}) EXPECT_NO_THROW(changed("jpeg", strength, one));
  EXPECT_EQ(refusal("rotation", -1e6 - 1), "rotation: expected degrees within a million, got -1000001");
  EXPECT_EQ(refusal("flip_both", 1), "flip_both: expected no strength (0), got 1");
  EXPECT_EQ(refusal("rotation", 1e9), "rotation: expected degrees within a million, got 1000000000");
}

TEST(Perturbations, FlipsOnlyMovePixels) {
  for (const auto& [height, width] : std::vector<std::array<int64_t, 2>>{{7, 9}, {8, 6}, {1, 5}}) {
    const at::Tensor images = waves(3, height, width, 3);
    EXPECT_TRUE(at::equal(changed("flip_horizontal", 0, images), at::flip(images, {2})));
    EXPECT_TRUE(at::equal(changed("flip_vertical", 0, images), at::flip(images, {1})));
    EXPECT_TRUE(at::equal(changed("flip_both", 0, images), at::flip(images, {1, 2})));
  }
}

TEST(Perturbations, QuarterTurnsAreExact) {
  for (const int64_t side : {1, 2, 7, 32}) {
    const at::Tensor images = waves(2, side, side, 3);
    for (const int64_t rotations : {-5, -1, 0, 1, 2, 3, 4, 9})
      EXPECT_TRUE(at::equal(changed("rotation", 90.0 * static_cast<double>(rotations), images),
                            at::rot90(images, ((rotations % 4) + 4) % 4, {1, 2})))
          << side << " " << rotations;
  }
  for (const int64_t width : {4, 7, 9}) {
    const at::Tensor images = waves(2, 7, width, 3);
    EXPECT_TRUE(at::equal(changed("rotation", 180, images), changed("flip_both", 0, images)));
  }
}

TEST(Perturbations, TurnsInterpolateBetweenPixels) {
  const at::Tensor images = waves(1, 5, 7, 1);
  for (const double degrees : {30.0, 210.0, 45.5, -30.0}) {
    const at::Tensor out = changed("rotation", degrees, images);
    const double angle = degrees * std::numbers::pi / 180;
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 7; ++x) {
        // Source coordinates: inverse rotation, clockwise for rows that go down.
        const double dx = static_cast<double>(x) - 3, dy = static_cast<double>(y) - 2;
        const double from_x = 3 + std::cos(angle) * dx - std::sin(angle) * dy,
                     from_y = 2 + std::sin(angle) * dx + std::cos(angle) * dy;
        double sum = 0;
        for (int64_t i = 0; i < 5; ++i)
          for (int64_t j = 0; j < 7; ++j)
            sum += std::max(0.0, 1 - std::abs(from_y - static_cast<double>(i))) *
                   std::max(0.0, 1 - std::abs(from_x - static_cast<double>(j))) * value(images, {0, i, j, 0});
        EXPECT_NEAR(value(out, {0, y, x, 0}), sum, 1e-6) << degrees << " " << y << " " << x;
      }
  }
  // Corners of an image of ones are black, the centre is not.
  const at::Tensor page = changed("rotation", 45, at::full({1, 33, 33, 1}, 1.0));
  EXPECT_EQ(value(page, {0, 0, 0, 0}), 0);
  EXPECT_FLOAT_EQ(value(page, {0, 16, 16, 0}), 1);
}

TEST(Perturbations, NormalNoiseHasItsVarianceBeforeClipping) {
  const at::Tensor grey = at::full({20, 33, 31, 3}, 0.5);
  for (const double variance : {0.001, 0.004}) {  // a standard deviation of 1/8: hardly any clipping
    const at::Tensor noise = changed("gaussian_noise", variance, grey) - grey;
    EXPECT_NEAR(noise.mean().item<double>(), 0, 5 * std::sqrt(variance / 61380));
    EXPECT_NEAR(noise.square().mean().item<double>() / variance, 1, 0.03);
  }
  const at::Tensor strong = changed("gaussian_noise", 0.1, grey);
  // P(|z| > 0.5 / √0.1) = 0.1138, half of it on each side.
  EXPECT_NEAR(strong.eq(0).to(at::kDouble).mean().item<double>(), 0.0569, 0.004);
  EXPECT_NEAR(strong.eq(1).to(at::kDouble).mean().item<double>(), 0.0569, 0.004);
  EXPECT_TRUE(at::equal(changed("gaussian_noise", 0, grey), grey));
  const at::Tensor sensor = changed("sensor_noise", 3, grey) - grey;
  EXPECT_NEAR(sensor.square().mean().item<double>(), 0.08 * 0.08, 0.0002);
}

TEST(Perturbations, ShotNoiseCountsPhotons) {
  const std::vector<double> photons = {500, 250, 100, 75, 50};
  for (int severity = 1; severity <= 5; ++severity) {
    const double n = photons[static_cast<size_t>(severity - 1)];
    const at::Tensor grey = at::full({20, 33, 31, 3}, 0.4), out = changed("shot_noise", severity, grey);
    EXPECT_NEAR(out.mean().item<double>(), 0.4, 5 * std::sqrt(0.4 / n / 61380)) << severity;
    EXPECT_NEAR((out - grey).square().mean().item<double>() / (0.4 / n), 1, 0.03) << severity;
    const at::Tensor counts = out * n;
    EXPECT_LT((counts - counts.round()).abs().max().item<double>(), 1e-4) << severity;
  }
  EXPECT_TRUE(at::equal(changed("shot_noise", 5, at::full({1, 3, 3, 1}, 0.0)), at::full({1, 3, 3, 1}, 0.0)));
}

TEST(Poisson, HasItsProbabilities) {
  // A grid of uniform numbers: the frequency of each outcome is its probability.
  const int64_t grid = 40000;
  for (const double rate : {0.3, 1.0, 4.7, 30.0}) {
    std::vector<int64_t> counts(200, 0);
    for (int64_t i = 0; i < grid; ++i) {
      const int64_t k = poisson(rate, (static_cast<double>(i) + 0.5) / static_cast<double>(grid));
      ASSERT_GE(k, 0);
      ASSERT_LT(k, 200);
      ++counts[static_cast<size_t>(k)];
    }
    double probability = std::exp(-rate);
    for (size_t k = 0; k < 60; ++k) {
      EXPECT_NEAR(static_cast<double>(counts[k]) / grid, probability, 1.5 / grid) << rate << " " << k;
      probability *= rate / static_cast<double>(k + 1);
    }
  }
  EXPECT_EQ(poisson(0, 0.999), 0);
  EXPECT_EQ(poisson(2000, 0), 2000);
  const int64_t far = std::abs(poisson(500, 1 - 1e-9) - 500);  // six standard deviations of 22.4
  EXPECT_GT(far, 125);
  EXPECT_LT(far, 145);
  EXPECT_GE(poisson(500, 1 - 0x1p-53), 0);  // terminates
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { poisson(-1, 0.5); }),
            "poisson: the mean must be 0 to 2000, got -1");
}

TEST(Perturbations, ImpulsesTakeTheirShareOfValues) {
  const at::Tensor grey = at::full({20, 33, 31, 3}, 0.5);
  const std::vector<double> shares = {0.01, 0.02, 0.03, 0.05, 0.07};
  for (int severity = 1; severity <= 5; ++severity) {
    const at::Tensor out = changed("impulse_noise", severity, grey);
    const double half = shares[static_cast<size_t>(severity - 1)] / 2, sd = std::sqrt(half / 61380);
    EXPECT_NEAR(out.eq(0).to(at::kDouble).mean().item<double>(), half, 5 * sd) << severity;
    EXPECT_NEAR(out.eq(1).to(at::kDouble).mean().item<double>(), half, 5 * sd) << severity;
    EXPECT_EQ(
        out.eq(0).sum().item<int64_t>() + out.eq(1).sum().item<int64_t>() + out.eq(0.5).sum().item<int64_t>(),
        61380);
    // Not always all three channels of a pixel.
    EXPECT_GT((out.ne(0.5).any(-1).logical_and(out.eq(0.5).any(-1))).sum().item<int64_t>(), 0);
  }
}

TEST(Perturbations, BlurIsItsFormula) {
  const at::Tensor images = waves(1, 7, 5, 3);
  const std::vector<double> stddevs = {0.4, 0.6, 0.7, 0.8, 1};
  for (int severity = 1; severity <= 5; ++severity) {
    const at::Tensor out = changed("gaussian_blur", severity, images);
    const double sigma = stddevs[static_cast<size_t>(severity - 1)];
    const auto reach = static_cast<int64_t>(4 * sigma + 0.5);
    for (const auto& [y, x, c] :
         std::vector<std::array<int64_t, 3>>{{0, 0, 0}, {3, 2, 1}, {6, 4, 2}, {1, 4, 0}}) {
      double sum = 0, weights = 0;
      for (int64_t i = -reach; i <= reach; ++i)
        for (int64_t j = -reach; j <= reach; ++j) {
          const double w = std::exp(-static_cast<double>(i * i + j * j) / (2 * sigma * sigma));
          sum +=
              w * value(images, {0, std::clamp<int64_t>(y + i, 0, 6), std::clamp<int64_t>(x + j, 0, 4), c});
          weights += w;
        }
      EXPECT_NEAR(value(out, {0, y, x, c}), sum / weights, 1e-6) << severity;
    }
  }
}

TEST(Perturbations, ContrastAndBrightnessAreTheirFormulas) {
  const at::Tensor images = waves(2, 9, 7, 3);
  const std::vector<double> kept = {0.75, 0.5, 0.4, 0.3, 0.15}, added = {0.05, 0.1, 0.15, 0.2, 0.3};
  for (int severity = 1; severity <= 5; ++severity) {
    const auto at = static_cast<size_t>(severity - 1);
    const at::Tensor exact = images.to(at::kDouble), mean = exact.mean({1, 2}, true);
    const at::Tensor contrast = changed("contrast", severity, images);
    EXPECT_LT((contrast - ((exact - mean) * kept[at] + mean)).abs().max().item<double>(), 1e-6);
    const at::Tensor largest = std::get<0>(exact.max(-1, true));
    const at::Tensor bright = changed("brightness", severity, images);
    EXPECT_LT((bright - exact * (largest + added[at]).clamp_max(1) / largest).abs().max().item<double>(),
              1e-6);
  }
  // Black has no hue to preserve.
  const at::Tensor black = changed("brightness", 5, at::full({1, 1, 1, 3}, 0.0));
  for (int64_t c = 0; c < 3; ++c) EXPECT_FLOAT_EQ(black[0][0][0][c].item<float>(), 0.3F);
}

TEST(Perturbations, JpegAndPixelsGoThroughEightBits) {
  const at::Tensor images = waves(2, 32, 32, 3);
  const std::vector<int> qualities = {80, 65, 58, 50, 40}, sides = {30, 28, 27, 24, 20};
  io::Image image{32, 32, 3, {}};
  for (int64_t i = 0; i < 32 * 32 * 3; ++i)
    image.pixels.push_back(static_cast<uint8_t>(std::lround(images[1].flatten()[i].item<double>() * 255)));
  const auto expect = [&](const at::Tensor& out, const io::Image& expected) {
    for (int64_t i = 0; i < 32 * 32 * 3; ++i)
      ASSERT_EQ(out.const_data_ptr<float>()[i],
                static_cast<float>(expected.pixels[static_cast<size_t>(i)]) / 255.0F);
  };
  for (size_t at = 0; at < 5; ++at) {
    const auto severity = static_cast<double>(at + 1);
    const std::string file = io::format_jpeg(image, qualities[at]);
    expect(changed("jpeg", severity, images)[1].contiguous(), io::parse_jpeg(as_bytes(file), "file"));
    const io::Image small = io::resized(image, sides[at], sides[at], io::ResizeFilter::box);
    expect(changed("pixelate", severity, images)[1].contiguous(),
           io::resized(small, 32, 32, io::ResizeFilter::box));
  }
}

TEST(Perturbations, OfHigherSeverityChangeMore) {
  const at::Tensor images = waves(3, 32, 32, 3);
  for (const Perturbation& perturbation : perturbations()) {
    if (perturbation.measure != "severity" && perturbation.measure != "variance") continue;
    double before = 0;
    for (const double strength : perturbation.strengths) {
      const double change =
          (changed(perturbation.name, strength, images) - images).square().mean().item<double>();
      EXPECT_GT(change, before) << perturbation.name << " " << strength;
      before = change;
    }
  }
}

}  // namespace
}  // namespace modewise::data
