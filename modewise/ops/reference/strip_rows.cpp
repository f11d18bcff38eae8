#include "modewise/ops/reference/strip_rows.h"

#include <atomic>

namespace modewise::ops::reference {
namespace {

constexpr int64_t kStripNumbers = int64_t{1} << 24;

std::atomic<int64_t>& strip_limit() {
  static std::atomic<int64_t> numbers = kStripNumbers;
  return numbers;
}

}  // namespace

int64_t strip_rows(int64_t width) {
  return std::max<int64_t>(1, strip_limit() / std::max<int64_t>(width, 1));
}

StripLimit::StripLimit(int64_t numbers) {
  strip_limit() = numbers;
}

StripLimit::~StripLimit() {
  strip_limit() = kStripNumbers;
}

}  // namespace modewise::ops::reference
