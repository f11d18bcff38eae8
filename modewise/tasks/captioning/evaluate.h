#pragma once
// Caption metrics against reference captions, for `score` and for the evaluation of runs.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/io/captions/coco_captions.h"
#include "modewise/metrics/caption_scores.h"

namespace modewise::tasks {

struct CaptionQuality {
  metrics::CaptionEvaluation evaluation;  // images in the order of the captions
  size_t references = 0;                  // references of the images with a caption
  size_t without_caption = 0;             // images with references but without a caption
  size_t empty = 0;                       // captions without words
  std::vector<std::string> warnings;
};

/// The captions with the ids that `references` gives to their files, if both name the files of all images;
/// else unchanged. Data errors: a file that the references do not have or have twice; no names of files where
/// the references have no ids.
io::ImageTexts match_files(const io::CaptionResults& results, const std::string& results_source,
                           const io::CaptionFile& references, const std::string& references_source);

/// Scores captions; words are text::ptb_words. Data errors, starting with the source's name: no caption, a
/// caption of an image without references, or of more than 1000 words.
CaptionQuality evaluate_captions(const io::ImageTexts& captions, const std::string& captions_source,
                                 const io::CaptionFile& references, const std::string& references_source);

/// {"images", "references", "images_without_caption", "empty_captions", metrics}.
nlohmann::ordered_json to_json(const CaptionQuality& evaluation);

}  // namespace modewise::tasks
