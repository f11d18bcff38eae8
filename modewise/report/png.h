#pragma once
// PNG writer: palette images for large heat maps (a matrix of 500 × 500 cells is one image instead of 250,000
// shapes), and RGB images.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "modewise/report/color.h"

namespace modewise::report {

/// A PNG of width × height palette indices (row-major). Index `transparent` is transparent; −1: none.
std::string palette_png(int64_t width, int64_t height, std::span<const uint8_t> indices,
                        std::span<const Color> palette, int transparent = -1);

/// A PNG of width × height pixels, row-major.
std::string color_png(int64_t width, int64_t height, std::span<const Color> pixels);

std::string base64(std::string_view bytes);

}  // namespace modewise::report
