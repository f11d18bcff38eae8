#pragma once
// What test pictures are changed by to ask how much of a model's accuracy stays: noise of a variance, mirrors
// and turns (the robustness tests of arXiv 2201.01410), and corruptions at five severities
// (Hendrycks and Dietterich, "Benchmarking neural network robustness to common corruptions and
// perturbations", ICLR 2019, with the parameters for 32 × 32 pixels of CIFAR-10-C). Nothing is rounded to 8
// bits but where JPEG and pixels of other sizes are about them. A change is drawn by counters: it depends on
// the seed and the sample's number alone, and of two strengths with the same draws the strength alone
// differs.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/random.h"

namespace modewise::data {

/// One picture, [H, W, C] from 0 to 1.
struct PerturbedImage {
  int64_t height = 0, width = 0, channels = 0;
  std::span<float> values;
};

struct Perturbation {
  std::string name;     // "gaussian_noise"
  std::string says;     // what it does, for help and tables
  std::string measure;  // what a strength is: "variance", "degrees", "severity"; "" where it has none
  std::vector<double> strengths;  // those that studies report; {0} where it has none
  void (*apply)(const PerturbedImage& image, double strength, const RandomStream& stream);
};

/// All of them, those of the paper first. A new one is a row of the table behind it.
const std::vector<Perturbation>& perturbations();
/// Throws a usage error that names the nearest.
const Perturbation& find_perturbation(std::string_view name);

/// `pictures` [B, H, W, C] float32 from 0 to 1, each changed; `samples` are the numbers that key the draws. A
/// usage error where the strength is none that the perturbation has: a severity that is not 1 to 5, a
/// variance below 0.
at::Tensor perturbed(const Perturbation& perturbation, double strength, const at::Tensor& images,
                     std::span<const int64_t> samples, uint64_t seed);

/// A Poisson number of mean `rate` (up to 2,000) for a uniform number in [0, 1): the outcomes are tried from
/// the most likely one outwards, so that the steps are about as many as the deviation is large. What rounding
/// leaves over, about 1e-13, is the most likely one's.
int64_t poisson(double rate, double uniform);

}  // namespace modewise::data
