#include "modewise/text/unigram_paths.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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
  std::vector<int32_t> found;
  highest_ = std::numeric_limits<float>::min();  // as in sentencepiece: positive, so that scores count as 0
  for (int32_t id = 0; id < model.pieces.size(); ++id) {
    const Type type = model.types[static_cast<size_t>(id)];
    if (type == Type::normal) {
      lowest = std::min(lowest, model.scores[static_cast<size_t>(id)]);
      highest_ = std::max(highest_, model.scores[static_cast<size_t>(id)]);
    }
    if (type == Type::normal || type == Type::user_defined) found.push_back(id);
  }
  unknown_score_ = lowest - kUnknownPenalty;
  index_ = PrefixIndex(std::move(found), [&](int32_t id) { return model.pieces[id]; });
}

void UnigramPaths::best(std::string_view text,
                        const std::function<void(std::string_view, int32_t)>& found) const {
  using Type = io::SentencePieceModel::Type;
  require(text.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a text of {} bytes exceeds the limit of 4 GiB", text.size());
  std::vector<PathEnd> ends(text.size() + 1);
  const auto offer = [&](size_t end, double score, int32_t id, size_t length) {
    PathEnd& target = ends[end];
    if (target.length == 0 || score > target.score) target = {score, id, static_cast<uint32_t>(length)};
  };
  for (size_t start = 0; start < text.size();) {
    const double until_here = ends[start].score;
    const size_t character = std::max<size_t>(1, io::utf8_length(text.substr(start)));
    bool has_character = false;
    const auto text_of = [&](int32_t id) { return model_.pieces[id]; };
    index_.visit(text.substr(start), text_of, [&](size_t length, int32_t id) {
      const double score = model_.types[static_cast<size_t>(id)] == Type::user_defined
                               ? static_cast<float>(length) * highest_ - 0.1
                               : static_cast<double>(model_.scores[static_cast<size_t>(id)]);
      offer(start + length, score + until_here, id, length);
      has_character = has_character || length == character;
    });
    if (!has_character) offer(start + character, unknown_score_ + until_here, model_.unknown, character);
    start += character;
  }
  std::vector<size_t> cuts;
  for (size_t end = text.size(); end > 0; end -= ends[end].length) cuts.push_back(end);
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut)
    found(text.substr(*cut - ends[*cut].length, ends[*cut].length), ends[*cut].id);
}

}  // namespace modewise::text
