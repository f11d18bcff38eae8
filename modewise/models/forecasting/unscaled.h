#pragma once
// Undoes the scaling of values to float32 without the noise of its rounding.

namespace modewise::models {

/// The number x with the fewest decimal digits for which (x − mean) / stddev rounds to `scaled` in float32.
/// Values of a table come back exactly, such as 0, 140 or 13.322, unless they differ in more digits than
/// float32 holds. scaled · stddev + mean if no decimal of 17 digits is scaled to it.
double unscaled(float scaled, double mean, double stddev);

}  // namespace modewise::models
