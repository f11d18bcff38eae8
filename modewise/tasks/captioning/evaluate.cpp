#include "modewise/tasks/captioning/evaluate.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/data/file_matcher.h"
#include "modewise/text/ptb_words.h"

namespace modewise::tasks {
namespace {

/// METEOR's alignment is quadratic in the words.
constexpr size_t kMaxWords = 1000;

/// Texts as word ids, with the count of texts without words.
class NumberedCaptions {
 public:
  NumberedCaptions(const io::ImageTexts& texts, const std::string& source, std::string_view list,
                   metrics::WordNumbers& words)
      : texts_(texts), source_(source), list_(list), words_(words), numbers_(texts.size()) {}

  metrics::Words words_of(size_t i) {
    const std::vector<std::string> words = text::ptb_words(texts_.text(i));
    require(words.size() <= kMaxWords, ErrorKind::data, "{}: {}[{}] has {} words; the maximum is {}", source_,
            list_, i, words.size(), kMaxWords);
    if (words.empty() && empty_++ == 0) first_empty_ = i;
    numbers_[i] = words_.numbers(words);
    return numbers_[i];
  }
  size_t empty() const { return empty_; }
  /// Adds a warning if some texts have no words.
  void warn_of_empty(std::vector<std::string>& warnings, std::string_view consequence) const {
    if (empty_ > 0)
      warnings.push_back(fmt::format("{}: captions without words: {}, the first is {}[{}]; {}", source_,
                                     empty_, list_, first_empty_, consequence));
  }

 private:
  const io::ImageTexts& texts_;
  const std::string& source_;
  std::string_view list_;
  metrics::WordNumbers& words_;
  std::vector<std::vector<int32_t>> numbers_;
  size_t empty_ = 0, first_empty_ = 0;
};

size_t images_with_captions(const io::CaptionFile& references) {
  size_t count = 0;
  for (size_t i = 0; i < references.images.size(); ++i)
    if (!references.captions.of(references.images.image(i)).empty()) ++count;
  return count;
}

bool all_named(const io::ImageTexts& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names.text(i).empty()) return false;
  return true;
}

}  // namespace

io::ImageTexts match_files(const io::CaptionResults& results, const std::string& results_source,
                           const io::CaptionFile& references, const std::string& references_source) {
  const io::ImageTexts &captions = results.captions, &images = references.images;
  const bool named = all_named(results.files);
  require(
      named || !references.counted, ErrorKind::data,
      "{} has no image ids, so that captions are matched by \"file_name\", which {} does not give to each",
      references_source, results_source);
  if (!named || !all_named(images)) return captions;
  std::vector<std::string> names;
  for (size_t i = 0; i < images.size(); ++i) names.emplace_back(images.text(i));
  const data::FileMatcher matcher(names, data::without_image_ending);
  std::map<size_t, size_t> caption_of;  // by image
  io::ImageTexts matched;
  for (size_t i = 0; i < captions.size(); ++i) {
    const std::string file(results.files.text(i));
    const std::vector<size_t> found = matcher.find(file);
    require(found.size() == 1, ErrorKind::data, "{}: [{}] is for the file {}, which {} in {}", results_source,
            i, quote_for_message(file, 200), found.empty() ? "is not" : "may be several", references_source);
    const auto [first, is_new] = caption_of.emplace(found.front(), i);
    require(is_new, ErrorKind::data, "{}: [{}]: the file {} has two captions, the first is [{}]",
            results_source, i, quote_for_message(file, 200), first->second);
    matched.add(images.image(found.front()), captions.text(i));
  }
  matched.sort();
  return matched;
}

CaptionQuality evaluate_captions(const io::ImageTexts& captions, const std::string& captions_source,
                                 const io::CaptionFile& references, const std::string& references_source) {
  require(captions.size() > 0, ErrorKind::data, "{}: the list has no captions", captions_source);
  metrics::WordNumbers words;
  NumberedCaptions candidates(captions, captions_source, "", words);
  NumberedCaptions others(references.captions, references_source, references.list, words);
  CaptionQuality evaluated;
  std::vector<metrics::CaptionCase> images;
  for (size_t i = 0; i < captions.size(); ++i) {
    const bool listed = !references.images.of(captions.image(i)).empty();
    const auto found = references.captions.of(captions.image(i));
    require(listed && !found.empty(), ErrorKind::data, "{}: [{}] is for image {}, which {} in {}",
            captions_source, i, captions.image(i), listed ? "has no caption" : "is not", references_source);
    metrics::CaptionCase& image = images.emplace_back();
    image.candidate = candidates.words_of(i);
    for (const uint32_t reference : found) image.references.push_back(others.words_of(reference));
    evaluated.references += found.size();
  }
  if (!references.left_out.empty())
    evaluated.warnings.push_back(
        fmt::format("{}: {}; they are left out", references_source, references.left_out));
  evaluated.empty = candidates.empty();
  candidates.warn_of_empty(evaluated.warnings, "they score 0");
  others.warn_of_empty(evaluated.warnings, "they remain references");
  const size_t all = images_with_captions(references);
  evaluated.without_caption = all - images.size();
  if (evaluated.without_caption > 0)
    evaluated.warnings.push_back(
        fmt::format("{}: no caption for {} of the {} images with references in {}; the others are scored",
                    captions_source, evaluated.without_caption, all, references_source));
  evaluated.evaluation = metrics::score_captions(images, words.words());
  return evaluated;
}

nlohmann::ordered_json to_json(const CaptionQuality& evaluation) {
  nlohmann::ordered_json json = {{"images", evaluation.evaluation.images.size()},
                                 {"references", evaluation.references},
                                 {"images_without_caption", evaluation.without_caption},
                                 {"empty_captions", evaluation.empty}};
  json.update(metrics::to_json(evaluation.evaluation.all));
  return json;
}

}  // namespace modewise::tasks
