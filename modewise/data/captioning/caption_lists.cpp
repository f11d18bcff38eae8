// Lists of captioned images and their splits.

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/random.h"
#include "modewise/data/captioning/caption_sources.h"
#include "modewise/io/number_text.h"
#include "modewise/io/text_input.h"
#include "modewise/text/ptb_words.h"

namespace modewise::data {
namespace {

/// Items skipped for one reason, reported in one warning.
struct LeftOutCaptions {
  int64_t count = 0;
  std::string first;

  void add(std::string what) {
    if (count++ == 0) first = std::move(what);
  }
  void warn(CaptionSet& set, const std::string& path, const char* what) const {
    if (count == 0) return;
    set.warn(fmt::format("{}: {} {}, skipped; the first is {}", path, count, what, first));
  }
};

CaptionedImage captioned(const io::CaptionFile& read, size_t number, LeftOutCaptions& wordless) {
  CaptionedImage image;
  image.id = read.images.image(number);
  image.file = read.images.text(number);
  if (!read.splits.empty()) image.split = read.splits[number];
  for (const uint32_t i : read.captions.of(image.id)) {
    std::vector<std::string> words = text::ptb_words(read.captions.text(i));
    if (words.empty()) {
      wordless.add(fmt::format("{} of {}", read.caption_place(i), read.image_name(number)));
      continue;
    }
    image.captions.emplace_back(read.captions.text(i));
    image.words.push_back(std::move(words));
  }
  return image;
}

/// Whether a file name stays inside the folder that it is relative to. Symbolic links in the folder are
/// trusted and followed anywhere.
bool stays_inside(const std::filesystem::path& file) {
  return file.is_relative() && std::find(file.begin(), file.end(), "..") == file.end();
}

/// Images by their ids, or in files without ids by their file names.
class ImageNames {
 public:
  ImageNames(const CaptionSet& set, const std::vector<int64_t>& images)
      : images_(images), files_(files_of(set, images)), matcher_(files_, without_image_ending) {
    if (set.counted) return;
    for (const int64_t i : images) place_of_[set.images[static_cast<size_t>(i)].id] = i;
  }

  /// The index of the image that `word` names; data errors, starting with `place`, for another text than an
  /// id or a file name. Nothing: no such image.
  std::optional<int64_t> find(std::string_view word, const std::string& place) const {
    int64_t id = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    const bool is_id = error == std::errc() && last == word.data() + word.size();
    if (is_id && !place_of_.empty()) {
      const auto found = place_of_.find(id);
      return found == place_of_.end() ? std::nullopt : std::optional(found->second);
    }
    const std::vector<size_t> found = matcher_.find(std::string(word));
    require(found.size() < 2, ErrorKind::data, "{}: '{}' means {} images", place, word, found.size());
    require(!found.empty() || is_id || !ending_of(word, {".png", ".jpg", ".jpeg"}).empty(), ErrorKind::data,
            "{}: expected the id or the file name of an image, got '{}'", place, word);
    return found.empty() ? std::nullopt : std::optional(images_[found.front()]);
  }

 private:
  static std::vector<std::string> files_of(const CaptionSet& set, const std::vector<int64_t>& images) {
    std::vector<std::string> files;
    for (const int64_t i : images) files.push_back(set.images[static_cast<size_t>(i)].file);
    return files;
  }

  const std::vector<int64_t>& images_;
  std::vector<std::string> files_;
  FileMatcher matcher_;
  std::map<int64_t, int64_t> place_of_;
};

/// Image indices from a file of ids or file names, one per line.
std::vector<int64_t> read_ids(const std::string& path, const ImageNames& images,
                              const CaptionConfig& config) {
  const std::string bytes = read_file(path);
  const io::TextInput input(as_bytes(bytes), path);
  std::string_view text = input.text();
  std::vector<int64_t> places;
  std::set<int64_t> seen;
  for (int64_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view word = io::strip_spaces(text.substr(0, end));
    if (word.ends_with('\r')) word = io::strip_spaces(word.substr(0, word.size() - 1));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::optional<int64_t> found = images.find(word, fmt::format("{}:{}", path, line));
    if (config.other && !found) continue;
    require(found.has_value(), ErrorKind::data, "{}:{}: image {} is not a captioned image of {}", path, line,
            word, config.path);
    require(seen.insert(*found).second, ErrorKind::data, "{}:{}: duplicate image id {}", path, line, word);
    places.push_back(*found);
  }
  return places;
}

/// Fractions of the splits without a file, of the remaining images.
std::vector<double> shares_of(const CaptionConfig& config) {
  std::vector<double> shares = config.split_ratios;
  require(shares.size() == 3 && shares[0] > 0 && shares[0] + shares[1] + shares[2] <= 1 + 1e-9,
          ErrorKind::config,
          "data.split_ratios: expected three fractions (training, validation, test) that sum to at most 1, "
          "got [{}]",
          fmt::join(config.split_ratios, ", "));
  const double sum = shares[0] + shares[1] + shares[2];
  if (!config.validation_ids.empty()) shares[1] = 0;
  if (!config.test_ids.empty() || !config.test_path.empty()) shares[2] = 0;
  const double left = shares[0] + shares[1] + shares[2];
  for (double& share : shares) share *= sum / left;
  return shares;
}

/// Takes the splits that a captions file gives to its images; false: it gives none.
bool take_splits_of_file(CaptionSet& set, const std::vector<int64_t>& candidates,
                         const CaptionConfig& config) {
  const auto given = [&](int64_t i) { return !set.images[static_cast<size_t>(i)].split.empty(); };
  if (std::ranges::none_of(candidates, given)) return false;
  require(
      config.other || (config.validation_ids.empty() && config.test_ids.empty() && config.test_path.empty()),
      ErrorKind::config,
      "{} gives the splits of its images: remove data.validation_ids, data.test_ids and data.test_path",
      config.path);
  for (const int64_t i : candidates) {
    const CaptionedImage& image = set.images[static_cast<size_t>(i)];
    require(given(i), ErrorKind::data, "{}: {} has no split, but others have", config.path, image.file);
    (image.split == "train"        ? set.train
     : image.split == "validation" ? set.validation
                                   : set.test)
        .push_back(i);
  }
  set.notes.push_back(fmt::format("{}: the splits are those of the file: {} training, {} validation, {} test",
                                  config.path, set.train.size(), set.validation.size(), set.test.size()));
  return true;
}

}  // namespace

CaptionFolder::CaptionFolder(std::string folder) : folder_(std::move(folder)) {
  require(folder_.empty() || std::filesystem::is_directory(folder_), ErrorKind::no_input,
          "there is no folder {}", folder_);
}

void CaptionFolder::list() {
  if (std::exchange(listed_, true)) return;
  for (const std::filesystem::path& file : data_files_below(folder_))
    if (io::named_as_image(file)) files_.push_back(file.lexically_relative(folder_).generic_string());
  matcher_.emplace(files_, without_image_ending);
}

std::optional<std::string> CaptionFolder::find(const std::string& name, const std::string& source) {
  std::string found = name;
  if (!holds_file(folder_, name)) {
    list();
    const std::vector<size_t> files = matcher_->find(name);
    if (files.empty()) return std::nullopt;
    require(files.size() == 1, ErrorKind::data,
            "{}: '{}' means {} images of {}, such as {} and {}; name them by their path relative to it",
            source, name, files.size(), folder_, files_[files[0]], files_[files[1 % files.size()]]);
    found = files_[files[0]];
  }
  named_.insert(std::filesystem::path(found).lexically_normal().generic_string());
  return found;
}

std::vector<std::string> CaptionFolder::unnamed() {
  list();
  std::vector<std::string> out;
  for (const std::string& file : files_)
    if (!named_.contains(file)) out.push_back(file);
  return out;
}

std::vector<int64_t> list_captions(CaptionSet& set, const std::string& path, CaptionFolder& folder,
                                   const CaptionConfig& config) {
  const io::CaptionFile read = io::read_captions(path);
  const std::string left_out = read.left_out.empty() ? "" : fmt::format("{}: {}", path, read.left_out);
  require(left_out.empty() || !config.strict, ErrorKind::data, "{} (data.strict)", left_out);
  if (!left_out.empty()) set.warn(left_out + "; they are left out");
  set.counted = set.counted || read.counted;
  int64_t last = 0;  // the largest id of other files
  for (const CaptionedImage& image : set.images) last = std::max(last, image.id);
  std::vector<std::string> missing;
  LeftOutCaptions wordless, without;
  std::vector<int64_t> added;
  for (size_t number = 0; number < read.images.size(); ++number) {
    CaptionedImage image = captioned(read, number, wordless);
    require(!image.file.empty(), ErrorKind::data, "{}: image {} has no \"file_name\"", path, image.id);
    require(folder.path().empty() || config.allow_outside || stays_inside(image.file), ErrorKind::data,
            "{}: image {} has the file_name {}, which leads out of the folder {}; data.allow_outside = true "
            "(--allow-outside) allows it",
            path, image.id, quote_for_message(image.file, 200), folder.path());
    if (!folder.path().empty()) {
      std::optional<std::string> file = folder.find(image.file, path);
      if (!file) {
        missing.push_back(read.counted ? image.file : fmt::format("{} (image {})", image.file, image.id));
        continue;
      }
      image.file = std::move(*file);
    }
    if (image.captions.empty()) {
      without.add(read.image_name(number));
      continue;
    }
    if (read.counted) image.id += last;
    added.push_back(std::ssize(set.images));
    set.images.push_back(std::move(image));
  }
  const std::string lost =
      path + ": " +
      with_examples("image", fmt::format(" of {} not in {}", read.images.size(), folder.path()), missing);
  require(missing.empty() || (!config.strict && missing.size() < read.images.size()), ErrorKind::data, "{}{}",
          lost, config.strict ? " (data.strict)" : "");
  require(!added.empty(), ErrorKind::data, "{}: there is no image with a caption", path);
  if (!missing.empty()) set.warn(lost + "; they are left out");
  wordless.warn(set, path, "captions have no words");
  without.warn(set, path, "images have no caption");
  return added;
}

void split_captions(CaptionSet& set, const std::vector<int64_t>& candidates, const CaptionConfig& config) {
  const std::vector<double> shares = shares_of(config);
  if (take_splits_of_file(set, candidates, config)) return;
  const ImageNames images(set, candidates);
  std::set<int64_t> taken;
  const auto take = [&](std::vector<int64_t>& part, const std::string& path) {
    if (path.empty()) return;
    for (const int64_t i : read_ids(path, images, config)) {
      const CaptionedImage& image = set.images[static_cast<size_t>(i)];
      require(taken.insert(i).second, ErrorKind::data, "{}: image {} is also in the validation split", path,
              set.counted ? image.file : std::to_string(image.id));
      part.push_back(i);
    }
  };
  take(set.validation, config.validation_ids);
  take(set.test, config.test_ids);
  std::vector<int64_t> open;
  for (const int64_t i : candidates)
    if (!taken.contains(i)) open.push_back(i);
  const std::vector<int64_t> order =
      random_permutation(std::ssize(open), {static_cast<uint64_t>(config.split_seed), RandomSite::splits, 0});
  const auto n = static_cast<double>(open.size());
  const int64_t train = std::llround(shares[0] * n), validation = std::llround((shares[0] + shares[1]) * n),
                test = std::llround((shares[0] + shares[1] + shares[2]) * n);
  for (int64_t i = 0; i < test; ++i)
    (i < train        ? set.train
     : i < validation ? set.validation
                      : set.test)
        .push_back(open[static_cast<size_t>(order[static_cast<size_t>(i)])]);
  for (std::vector<int64_t>* part : {&set.train, &set.validation, &set.test})
    std::sort(part->begin(), part->end());
}

void leave_out(CaptionSet& set, const std::vector<bool>& out) {
  std::vector<int64_t> place(set.images.size(), -1);
  std::vector<CaptionedImage> kept;
  for (size_t i = 0; i < place.size(); ++i) {
    if (out[i]) continue;
    place[i] = std::ssize(kept);
    kept.push_back(std::move(set.images[i]));
  }
  set.images = std::move(kept);
  for (std::vector<int64_t>* part : {&set.train, &set.validation, &set.test}) {
    std::erase_if(*part, [&](int64_t i) { return place[static_cast<size_t>(i)] < 0; });
    for (int64_t& i : *part) i = place[static_cast<size_t>(i)];
  }
}

void leave_test_out(CaptionSet& set) {
  std::vector<bool> out(set.images.size(), false);
  for (const int64_t i : set.test) out[static_cast<size_t>(i)] = true;
  leave_out(set, out);
}

}  // namespace modewise::data
