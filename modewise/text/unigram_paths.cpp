#include "modewise/text/unigram_paths.h"

#include <algorithm>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::text {
namespace {

constexpr float kUnknownPenalty = 10;

struct PathEnd {
  double score = 0;
  int32_t id = -1;
  uint32_t length = 0;  // of the last piece; 0: no path ends here
};

}  // namespace

UnigramPaths::UnigramPaths(const io::SentencePieceModel& model) : model_(model) {
  using Type = io::SentencePieceModel::Type;
  float lowest = std::numeric_limits<float>::max();
  highest_ =
      std::numeric_limits<float>::min();  // as sentencepiece has it: positive, so that scores count as 0
  for (int32_t id = 0; id < model.pieces.size(); ++id) {
    const Type type = model.types[static_cast<size_t>(id)];
    if (type == Type::normal) {
      lowest = std::min(lowest, model.scores[static_cast<size_t>(id)]);
      highest_ = std::max(highest_, model.scores[static_cast<size_t>(id)]);
    }
    if (type == Type::normal || type == Type::user_defined) sorted_.push_back(id);
  }
  unknown_score_ = lowest - kUnknownPenalty;
  std::sort(sorted_.begin(), sorted_.end(),
            [&](int32_t a, int32_t b) { return model.pieces[a] < model.pieces[b]; });
  for (size_t byte = 0; byte < 256; ++byte)
    first_bytes_[byte] = narrow({0, sorted_.size()}, 0, static_cast<unsigned char>(byte));
}

// The part of `range`, whose pieces are equal up to `depth` and longer, that goes on with `byte`.
UnigramPaths::Range UnigramPaths::narrow(Range range, size_t depth, unsigned char byte) const {
  const auto at = [&](int32_t id) { return static_cast<unsigned char>(model_.pieces[id][depth]); };
  const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(range.begin);
  const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(range.end);
  const auto low = std::partition_point(begin, end, [&](int32_t id) { return at(id) < byte; });
  const auto high = std::partition_point(low, end, [&](int32_t id) { return at(id) == byte; });
  return {static_cast<size_t>(low - sorted_.begin()), static_cast<size_t>(high - sorted_.begin())};
}

void UnigramPaths::best(std::string_view text,
                        const std::function<void(std::string_view, int32_t)>& found) const {
  using Type = io::SentencePieceModel::Type;
  require(text.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a text of {} bytes is longer than the 4 GiB that can be encoded at once", text.size());
  std::vector<PathEnd> ends(text.size() + 1);
  const auto offer = [&](size_t end, double score, int32_t id, size_t length) {
    PathEnd& target = ends[end];
    if (target.length == 0 || score > target.score) target = {score, id, static_cast<uint32_t>(length)};
  };
  for (size_t start = 0; start < text.size();) {
    const double until_here = ends[start].score;
    const size_t character = std::max<size_t>(1, io::utf8_length(text.substr(start)));
    bool has_character = false;
    Range range = first_bytes_[static_cast<unsigned char>(text[start])];
    for (size_t length = 1; range.begin < range.end; ++length) {
      const int32_t id = sorted_[range.begin];
      if (model_.pieces[id].size() == length) {  // a piece sorts before those that it begins
        const double score = model_.types[static_cast<size_t>(id)] == Type::user_defined
                                 ? static_cast<float>(length) * highest_ - 0.1
                                 : static_cast<double>(model_.scores[static_cast<size_t>(id)]);
        offer(start + length, score + until_here, id, length);
        has_character = has_character || length == character;
        ++range.begin;
      }
      if (start + length == text.size()) break;
      range = narrow(range, length, static_cast<unsigned char>(text[start + length]));
    }
    if (!has_character) offer(start + character, unknown_score_ + until_here, model_.unknown, character);
    start += character;
  }
  std::vector<size_t> cuts;
  for (size_t end = text.size(); end > 0; end -= ends[end].length) cuts.push_back(end);
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut)
    found(text.substr(*cut - ends[*cut].length, ends[*cut].length), ends[*cut].id);
}

}  // namespace modewise::text
