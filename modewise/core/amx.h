#pragma once
// AMX tile registers: permission and configuration.

#include <cstdint>

namespace modewise {

/// The operand of `ldtilecfg`: eight tiles of 16 rows of 64 bytes.
struct alignas(64) AmxShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(AmxShapes) == 64);

/// True where the CPU has bfloat16 tiles and the system grants this process their registers (asked once per
/// process). Linux refuses where a thread's alternative signal stack is too small for them.
bool amx_granted();

}  // namespace modewise
