#pragma once
// Lookup in tables of ascending character ranges.

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace modewise::text {

/// The range of `table` that contains `c`, or null. An Item has `first` and `last` characters.
template <class Item, size_t count>
const Item* range_of(const Item (&table)[count], char32_t c) {
  const Item* after = std::upper_bound(table, std::end(table), c,
                                       [](char32_t x, const Item& item) { return x < item.first; });
  return after == table || (after - 1)->last < c ? nullptr : after - 1;
}

}  // namespace modewise::text
