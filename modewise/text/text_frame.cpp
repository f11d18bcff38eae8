#include "modewise/text/text_frame.h"

#include <algorithm>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::text {
namespace {

using Item = TextFrame::Item;
using Pieces = std::vector<Tokenizer::Piece>;

/// Numbers of tokens kept of two texts of at most `maximum` tokens together.
std::pair<size_t, size_t> kept_of_pair(size_t first, size_t second, size_t maximum) {
  if (first + second <= maximum) return {first, second};
  const bool swapped = first > second;
  size_t shorter = std::min(first, second);
  size_t longer = shorter < maximum ? std::max(shorter, maximum - shorter) : shorter;
  if (shorter + longer > maximum) {
    shorter = maximum / 2;
    longer = maximum - shorter;
  }
  return swapped ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

}  // namespace

TextFrame made_frame(const io::TextTemplate& around, const AddedTokens& added, int64_t size) {
  TextFrame out = {.single = around.single, .pair = around.pair, .size = size};
  for (const AddedTokens::Token& token : added.list())
    if (token.special) out.special.push_back(token.id);
  for (const char* name : {"[PAD]", "<pad>"})
    if (!out.padding) out.padding = added.special(name);
  for (const char* name : {"[MASK]", "<mask>"})
    if (!out.mask) out.mask = added.special(name);
  return out;
}

TextFrame text_frame(const Tokenizer& tokenizer) {
  const std::optional<TextFrame> own = tokenizer.frame();
  TextFrame out = own.value_or(TextFrame());
  out.size = tokenizer.size();
  const auto or_new = [&](std::optional<Tokenizer::Id> id) {
    return id ? *id : static_cast<Tokenizer::Id>(out.size++);
  };
  if (!own) {
    const Tokenizer::Id begin = or_new(tokenizer.begin_id()), end = or_new(tokenizer.end_id());
    const auto mark = [](Tokenizer::Id id, int32_t type) { return Item{Item::Kind::mark, id, type}; };
    out.single = {mark(begin, 0), {Item::Kind::first, 0, 0}, mark(end, 0)};
    out.pair = out.single;
    out.pair.push_back({Item::Kind::second, 0, 1});
    out.pair.push_back(mark(end, 1));
    out.special = {begin, end};
  }
  out.padding = or_new(out.padding);
  out.mask = or_new(out.mask);
  out.special.insert(out.special.end(), {*out.padding, *out.mask});
  std::sort(out.special.begin(), out.special.end());
  out.special.erase(std::unique(out.special.begin(), out.special.end()), out.special.end());
  return out;
}

FramedText frame_text(const Tokenizer& tokenizer, const TextFrame& frame, std::string_view first,
                      std::optional<std::string_view> second, int64_t maximum) {
  const std::vector<Item>& items = second ? frame.pair : frame.single;
  const auto marks = std::count_if(items.begin(), items.end(),
                                   [](const Item& item) { return item.kind == Item::Kind::mark; });
  const int64_t room = maximum - marks;
  require(room >= (second ? 2 : 1), ErrorKind::config,
          "{} tokens are too few: {} of them are special tokens, and each text needs one", maximum, marks);
  Pieces pieces[2] = {tokenizer.encode_pieces(first), second ? tokenizer.encode_pieces(*second) : Pieces()};
  require(!pieces[0].empty() && (!second || !pieces[1].empty()), ErrorKind::data, "the {}text has no tokens",
          !second             ? ""
          : pieces[0].empty() ? "first "
                              : "second ");
  const auto [kept_first, kept_second] =
      kept_of_pair(pieces[0].size(), pieces[1].size(), static_cast<size_t>(room));
  const size_t kept[2] = {kept_first, kept_second};
  FramedText out;
  out.left_out =
      static_cast<int64_t>(pieces[0].size() + pieces[1].size()) - static_cast<int64_t>(kept[0] + kept[1]);
  const auto add = [&](const Tokenizer::Piece& piece, int32_t type, int text) {
    out.ids.push_back(piece.id);
    out.types.push_back(type);
    out.pieces.push_back(piece);
    out.texts.push_back(static_cast<int8_t>(text));
  };
  for (const Item& item : items) {
    if (item.kind == Item::Kind::mark) {
      add({.id = item.mark}, item.type, -1);
      continue;
    }
    const size_t which = item.kind == Item::Kind::first ? 0 : 1;
    const size_t first_kept = tokenizer.truncation().at_begin ? pieces[which].size() - kept[which] : 0;
    for (size_t i = 0; i < kept[which]; ++i)
      add(pieces[which][first_kept + i], item.type, static_cast<int>(which));
  }
  return out;
}

}  // namespace modewise::text
