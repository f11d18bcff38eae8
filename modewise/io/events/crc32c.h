#pragma once
// CRC-32C (Castagnoli), the checksum of iSCSI (RFC 3720) and of TFRecord files.

#include <cstdint>
#include <string_view>

namespace modewise::io {

uint32_t crc32c(std::string_view bytes);

}  // namespace modewise::io
