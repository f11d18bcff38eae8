#pragma once
// Caption files that name images by their files: tables of Flickr8k and Flickr30k, Karpathy's splits, and
// lists of objects such as metadata.jsonl of Hugging Face.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/captions/caption_file.h"

namespace modewise::io {

/// Karpathy's JSON: {"images": [{"filename", "split", "sentences": [{"raw"}]}]}; image ids are "cocoid", else
/// "imgid".
CaptionFile parse_karpathy_captions(std::span<const std::byte> bytes, const std::string& source);
/// [{"image": "a.jpg", "caption": "…" or ["…"], "split"}]; the names may also be file_name and text.
CaptionFile parse_caption_list(std::span<const std::byte> bytes, const std::string& source);
/// The same objects, one per line.
CaptionFile parse_caption_lines(std::span<const std::byte> bytes, const std::string& source);
/// Lines "a.jpg#0<TAB>caption", without a header.
CaptionFile parse_caption_tokens(std::span<const std::byte> bytes, const std::string& source);
/// A header with the columns image and caption, or other names of them, separated by , ; | or a tab. Rows
/// with another number of cells are left out.
CaptionFile parse_caption_table(std::span<const std::byte> bytes, const std::string& source);

/// Whether the text begins with such a header.
bool begins_as_caption_table(std::string_view text);
/// Keys of the file and of the caption in lists of objects.
std::span<const std::string_view> image_keys();
std::span<const std::string_view> caption_keys();

}  // namespace modewise::io
