#include "modewise/data/text/token_rows.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace modewise::data {

text::FramedText framed(const text::TextFrame& frame, std::span<const int64_t> tokens) {
  text::FramedText out;
  for (const text::TextFrame::Item& item : frame.single) {
    if (item.kind == text::TextFrame::Item::Kind::mark)
      out.ids.push_back(item.mark);
    else
      for (const int64_t id : tokens) out.ids.push_back(static_cast<text::Tokenizer::Id>(id));
    out.types.resize(out.ids.size(), item.type);
  }
  return out;
}

TokenRows side_by_side(std::span<const text::FramedText> rows, int64_t padding) {
  size_t longest = 0;
  for (const text::FramedText& row : rows) longest = std::max(longest, row.ids.size());
  const auto batch = std::ssize(rows), n = static_cast<std::ptrdiff_t>(longest);
  TokenRows out{at::full({batch, n}, padding, at::kLong), at::zeros({batch, n}, at::kLong),
                at::zeros({batch, n}, at::kBool)};
  for (std::ptrdiff_t i = 0; i < batch; ++i) {
    const text::FramedText& row = rows[static_cast<size_t>(i)];
    std::ranges::copy(row.ids, out.ids.mutable_data_ptr<int64_t>() + i * n);
    std::ranges::copy(row.types, out.types.mutable_data_ptr<int64_t>() + i * n);
    std::fill_n(out.mask.mutable_data_ptr<bool>() + i * n, row.ids.size(), true);
  }
  return out;
}

}  // namespace modewise::data
