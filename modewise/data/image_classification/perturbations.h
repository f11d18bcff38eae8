#pragma once
// Perturbations of test images for robustness evaluation: Gaussian noise, flips and rotations (arXiv
// 2201.01410), and common corruptions at five severities (Hendrycks and Dietterich, "Benchmarking neural
// network robustness to common corruptions and perturbations", ICLR 2019, with the parameters of CIFAR-10-C
// for 32 × 32 pixels). Values stay in floating point, except for JPEG and pixelate, which work on 8 bits.
// Random numbers are counter-based: they depend only on the seed and the sample's number, and are the same
// for all strengths.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/random.h"

namespace modewise::data {

/// One image, [H, W, C] in [0, 1].
struct PerturbedImage {
  int64_t height = 0, width = 0, channels = 0;
  std::span<float> values;
};

struct Perturbation {
  std::string name;               // "gaussian_noise"
  std::string says;               // description for help and tables
  std::string measure;            // unit of the strength: "variance", "degrees", "severity"; "": no strength
  std::vector<double> strengths;  // published strengths; {0}: no strength
  void (*apply)(const PerturbedImage& image, double strength, const RandomStream& stream);
};

/// All perturbations, those of arXiv 2201.01410 first. A new one is an entry of table().
const std::vector<Perturbation>& perturbations();
/// Throws a usage error with the nearest name.
const Perturbation& find_perturbation(std::string_view name);

/// Perturbs `images` [B, H, W, C] float32 in [0, 1]; `samples` key the random numbers. Usage error for an
/// invalid strength: a severity that is not 1 to 5, a negative variance.
at::Tensor perturbed(const Perturbation& perturbation, double strength, const at::Tensor& images,
                     std::span<const int64_t> samples, uint64_t seed);

/// Poisson sample of mean `rate` (up to 2,000) from a uniform number in [0, 1), by inversion outwards from
/// the mode: the number of steps is about the standard deviation. The rounding remainder, about 1e-13, goes
/// to the mode.
int64_t poisson(double rate, double uniform);

}  // namespace modewise::data
