#pragma once
// Small palette images for large heat maps: a matrix of 500 × 500 cells as one PNG instead of 250,000 shapes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "modewise/report/color.h"

namespace modewise::report {

/// A PNG of width × height palette indices (row-major). Index `transparent` is not painted; −1: none.
std::string palette_png(int64_t width, int64_t height, std::span<const uint8_t> indices,
                        std::span<const Color> palette, int transparent = -1);

std::string base64(std::string_view bytes);

}  // namespace modewise::report
