#include <algorithm>
#include <cmath>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/models/captioning/caption_search.h"
#include "modewise/models/captioning/next_words.h"

namespace modewise::models {
namespace {

/// Candidate extension: a partial caption (its beam among those of its image) and the next word.
struct Candidate {
  double log_probability;
  size_t row;
  int64_t word;
};

bool likelier(const Candidate& a, const Candidate& b) {
  if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
  return a.row != b.row ? a.row < b.row : a.word < b.word;
}

/// A partial caption (beam), and the beam that it extends.
struct Beginning {
  FoundCaption caption;
  size_t parent = 0;
};

/// Beam search for the caption of one image.
class Beams {
 public:
  Beams(const BeamOptions& options, int64_t max_words)
      : places_(static_cast<size_t>(options.beams)),
        max_words_(max_words),
        penalty_(options.length_penalty),
        open_(1) {}

  const std::vector<Beginning>& open() const { return open_; }
  const FoundCaption& best() const { return best_; }

  /// Extends all beams by one word; their rows in `next` start at `first`.
  void extend(const NextWords& next, size_t first) {
    const std::vector<Candidate> chosen = likeliest(next, first);
    const std::vector<Beginning> before = std::exchange(open_, {});
    for (const Candidate& candidate : chosen) {
      FoundCaption caption = before[candidate.row].caption;
      caption.log_probability = candidate.log_probability;
      caption.ended = candidate.word == CaptionToken::end;
      if (!caption.ended) caption.words.push_back(candidate.word);
      if (caption.ended || static_cast<int64_t>(caption.words.size()) == max_words_)
        finish(std::move(caption));
      else
        open_.push_back({std::move(caption), candidate.row});
    }
    // Prune: further words lower the log probability, and the score is highest at the maximum length.
    std::erase_if(open_, [&](const Beginning& one) {
      return found_ && score(one.caption.log_probability, max_words_) <= best_score_;
    });
  }

 private:
  /// The most likely extensions, at most as many as free beams.
  std::vector<Candidate> likeliest(const NextWords& next, size_t first) const {
    std::vector<Candidate> heap;  // min-heap: the least likely on top
    for (size_t row = 0; row < open_.size(); ++row) {
      const auto chances = next.of(first + row);
      for (size_t word = 0; word < chances.size(); ++word) {
        const Candidate one{open_[row].caption.log_probability + chances[word], row,
                            static_cast<int64_t>(word)};
        if (std::isinf(one.log_probability)) continue;
        if (heap.size() == places_) {
          if (!likelier(one, heap.front())) continue;
          std::pop_heap(heap.begin(), heap.end(), likelier);
          heap.pop_back();
        }
        heap.push_back(one);
        std::push_heap(heap.begin(), heap.end(), likelier);
      }
    }
    std::sort_heap(heap.begin(), heap.end(), likelier);
    return heap;
  }

  double score(double log_probability, int64_t length) const {
    return log_probability / std::pow(static_cast<double>(length), penalty_);
  }

  void finish(FoundCaption caption) {
    --places_;
    const double its =
        score(caption.log_probability, static_cast<int64_t>(caption.words.size()) + (caption.ended ? 1 : 0));
    if (found_ && its <= best_score_) return;
    found_ = true;
    best_score_ = its;
    best_ = std::move(caption);
  }

  size_t places_;
  int64_t max_words_;
  double penalty_;
  std::vector<Beginning> open_;
  FoundCaption best_;
  double best_score_ = 0;
  bool found_ = false;
};

/// Batch rows of all searches, equally many per image; a search with fewer beams repeats its first one.
struct Rows {
  std::vector<int64_t> parents, tokens;
  size_t each = 0;
};

Rows rows_of(const std::vector<Beams>& searches, size_t parents_each) {
  Rows out;
  for (const Beams& search : searches) out.each = std::max(out.each, search.open().size());
  for (size_t image = 0; image < searches.size(); ++image) {
    const std::vector<Beginning>& open = searches[image].open();
    for (size_t row = 0; row < out.each; ++row) {
      const Beginning* one = open.empty() ? nullptr : &open[row < open.size() ? row : 0];
      out.parents.push_back(static_cast<int64_t>(image * parents_each + (one ? one->parent : 0)));
      out.tokens.push_back(!one                         ? CaptionToken::padding
                           : one->caption.words.empty() ? CaptionToken::begin
                                                        : one->caption.words.back());
    }
  }
  return out;
}

}  // namespace

std::vector<FoundCaption> beam_captions(Captioner& captioner, const at::Tensor& cells,
                                        const BeamOptions& options) {
  require(options.beams >= 1, ErrorKind::usage, "the beam size must be at least 1, got {}", options.beams);
  require(options.length_penalty >= 0 && std::isfinite(options.length_penalty), ErrorKind::usage,
          "the length penalty must be at least 0, got {}", options.length_penalty);
  std::vector<Beams> searches(static_cast<size_t>(cells.size(0)), Beams(options, captioner.max_words()));
  NextWords next(captioner, cells, 1);
  for (Rows rows = rows_of(searches, 1); rows.each > 0;) {
    next.append(rows.tokens);
    for (size_t image = 0; image < searches.size(); ++image) searches[image].extend(next, image * rows.each);
    rows = rows_of(searches, rows.each);
    if (rows.each > 0) next.reorder(rows.parents);
  }
  std::vector<FoundCaption> out;
  for (const Beams& search : searches) out.push_back(search.best());
  return out;
}

}  // namespace modewise::models
