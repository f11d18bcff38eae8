#pragma once
// Captions against those that people wrote of the same images: what `score` prints, and what runs are judged
// by.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/io/captions/coco_captions.h"
#include "modewise/metrics/caption_scores.h"

namespace modewise::tasks {

struct CaptionQuality {
  metrics::CaptionEvaluation evaluation;  // its images in the order of the captions
  size_t references = 0;                  // of the images that have a caption
  size_t without_caption = 0;             // images with references, but no caption
  size_t empty = 0;                       // captions without words
  std::vector<std::string> warnings;
};

/// Words are text::ptb_words of both. Data errors that begin with the source's name: no caption, one of an
/// image that has no references, one of more than 1000 words.
CaptionQuality evaluate_captions(const io::ImageTexts& captions, const std::string& captions_source,
                                const io::CocoCaptions& references, const std::string& references_source);

/// {"images", "references", "images_without_caption", "empty_captions", and the metrics}.
nlohmann::ordered_json to_json(const CaptionQuality& evaluation);

}  // namespace modewise::tasks
