#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <list>
#include <mutex>
#include <set>
#include <unordered_map>

#include "modewise/core/error.h"
#include "modewise/io/images/tiff.h"
#include "modewise/io/images/tiff_directory.h"
#include "modewise/io/images/tiff_handle.h"
#include "modewise/io/number_text.h"
#include "modewise/io/scratch_file.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

// Four blocks up to this size fit in the cache, as many as meet in one corner; larger ones may evict each
// other in every window.
constexpr int64_t kSmallBlock = kLargestTiffBlock / 4;

constexpr uint16_t kColorMap = 320, kPixelScale = 33550, kTiePoints = 33922, kTransformation = 34264,
                   kKeys = 34735, kKeyDoubles = 34736, kKeyText = 34737, kNodata = 42113;

std::optional<double> read_nodata(const TiffDirectory& directory) {
  if (directory.find(kNodata) == nullptr) return std::nullopt;
  const std::string all = directory.text(kNodata);
  const std::string_view text = strip_spaces(all);
  double value = 0;
  if (parse_number(text, '.', value)) return value;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);  // nan, inf
  require(status == std::errc() && end == text.data() + text.size() && !text.empty(), ErrorKind::data,
          "{}: expected a number, got {}", directory.place(kNodata), quote_for_message(all));
  return value;
}

std::optional<GeoReference> read_geo(const TiffDirectory& directory) {
  GeoReference geo{directory.doubles(kPixelScale),     directory.doubles(kTiePoints),
                   directory.doubles(kTransformation), {},
                   directory.doubles(kKeyDoubles),     directory.text(kKeyText)};
  for (const uint64_t value : directory.numbers(kKeys)) {
    require(value <= 65535, ErrorKind::data, "{}: expected 16-bit numbers, got {}", directory.place(kKeys),
            value);
    geo.keys.push_back(static_cast<uint16_t>(value));
  }
  require(geo.keys.empty() || (geo.keys.size() >= 4 && 4 + size_t{4} * geo.keys[3] <= geo.keys.size()),
          ErrorKind::data, "{}: {} values are too few for the {} declared keys", directory.place(kKeys),
          geo.keys.size(), geo.keys.size() < 4 ? 0 : geo.keys[3]);
  if (geo == GeoReference{}) return std::nullopt;
  return geo;
}

std::vector<std::array<uint8_t, 3>> read_palette(const TiffDirectory& directory, const TiffLayout& layout) {
  if (directory.find(kColorMap) == nullptr || layout.item_size != 1) return {};
  const std::vector<uint64_t> values = directory.numbers(kColorMap);
  require(values.size() == 768, ErrorKind::data, "{}: expected 3 x 256 values, got {}",
          directory.place(kColorMap), values.size());
  std::vector<std::array<uint8_t, 3>> palette(256);
  for (size_t i = 0; i < 256; ++i) {
    for (size_t c = 0; c < 3; ++c) palette[i][c] = static_cast<uint8_t>(values[256 * c + i] >> 8);
  }
  return palette;
}

// Copies `count` samples at `from` to every `step`-th position of `to`.
template <class T>
void convert(const std::byte* from, int64_t count, int64_t step, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    to[i * step] = static_cast<float>(value);
  }
}

using Convert = void (*)(const std::byte*, int64_t, int64_t, float*);

Convert find_convert(const TiffLayout& layout) {
  const auto pick = [&](Convert one, Convert two, Convert four, Convert eight) {
    return layout.item_size == 1 ? one : layout.item_size == 2 ? two : layout.item_size == 4 ? four : eight;
  };
  switch (layout.sample) {
    case TiffSample::unsigned_integer:
      return pick(convert<uint8_t>, convert<uint16_t>, convert<uint32_t>, convert<uint64_t>);
    case TiffSample::signed_integer:
      return pick(convert<int8_t>, convert<int16_t>, convert<int32_t>, convert<int64_t>);
    case TiffSample::floating:
      break;
  }
  return pick(nullptr, nullptr, convert<float>, convert<double>);
}

}  // namespace

class TiffReader::Impl {
 public:
  Impl(std::shared_ptr<const ByteSource> bytes, std::string source)
      : Impl(bytes, TiffDirectory(*bytes, std::move(source)), false) {
    info_ = {layout_.width,
             layout_.height,
             layout_.bands,
             layout_.dtype(),
             read_nodata(directory_),
             read_geo(directory_),
             layout_.tiled,
             std::string(layout_.compression_name()),
             read_palette(directory_, layout_),
             directory_.count_pages()};
    add_mask([&]() -> std::unique_ptr<Impl> {
      const std::optional<TiffDirectory> mask = directory_.find_mask();
      return mask ? std::make_unique<Impl>(bytes_, *mask, true) : nullptr;
    });
  }

  /// The image of `directory`, or the mask.
  Impl(std::shared_ptr<const ByteSource> bytes, const TiffDirectory& directory, bool is_mask)
      : bytes_(std::move(bytes)),
        directory_(directory),
        layout_(is_mask ? read_tiff_mask_layout(directory_) : read_tiff_layout(directory_)),
        convert_(find_convert(layout_)),
        handle_(*bytes_, directory_.source()) {
    TIFF* tiff = handle_.get();
    require(!is_mask || TIFFSetSubDirectory(tiff, directory_.offset()) == 1, ErrorKind::data,
            "{}: the mask in the directory at byte {} cannot be opened: {}", directory_.source(),
            directory_.offset(), handle_.reason());
    const tmsize_t row = layout_.tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
    const uint32_t blocks = layout_.tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    const int64_t expected = layout_.across * layout_.down * (layout_.planar ? layout_.bands : 1);
    require(row == layout_.row_bytes() && blocks == expected, ErrorKind::data,
            "{}: libtiff and the directory disagree: {} and {} bytes per row of a {}, {} and {} {}s",
            directory_.source(), row, layout_.row_bytes(), layout_.block_name(), blocks, expected,
            layout_.block_name());
    require(TIFFIsCODECConfigured(layout_.compression) != 0, ErrorKind::data,
            "{}: the installed libtiff was built without {}", directory_.source(),
            layout_.compression_name());
  }

  /// Reads the mask in `file`, if there is one, unless the image has its own.
  void add_mask_file(const std::filesystem::path& file) {
    std::error_code none;
    if (mask_ || !std::filesystem::is_regular_file(file, none)) return;
    add_mask([&] {
      const auto bytes = std::make_shared<FileSource>(file);
      return std::make_unique<Impl>(bytes, TiffDirectory(*bytes, file.string()), true);
    });
  }

  const TiffInfo& info() const { return info_; }
  const TiffLayout& layout() const { return layout_; }
  int64_t decoded_bytes() {
    const std::lock_guard lock(mutex_);
    return decoded_bytes_;
  }

  void read(int64_t row, int64_t column, int64_t height, int64_t width, std::span<float> out) {
    require(row >= 0 && column >= 0 && height >= 0 && width >= 0 && row <= layout_.height - height &&
                column <= layout_.width - width,
            ErrorKind::internal, "{}: a window of {} x {} at row {}, column {} is not inside {} x {} pixels",
            directory_.source(), height, width, row, column, layout_.height, layout_.width);
    require(static_cast<int64_t>(out.size()) == height * width * layout_.bands, ErrorKind::internal,
            "{}: a window of {} x {} x {} does not match {} values", directory_.source(), height, width,
            layout_.bands, out.size());
    const std::lock_guard lock(mutex_);
    const int64_t planes = layout_.planar ? layout_.bands : 1;
    for (int64_t y = row / layout_.block_height; y <= (row + height - 1) / layout_.block_height; ++y) {
      for (int64_t x = column / layout_.block_width; x <= (column + width - 1) / layout_.block_width; ++x) {
        for (int64_t plane = 0; plane < planes; ++plane) {
          copy_block(y, x, plane, {row, column, height, width}, out);
        }
      }
    }
    if (mask_ && height > 0 && width > 0) mask_out({row, column, height, width}, out);
  }

 private:
  struct Window {
    int64_t row, column, height, width;
  };
  struct Held {
    int64_t index;
    std::vector<std::byte> bytes;
  };
  // A row of block `index` at `place`: its number in the image, and in the block.
  struct Row {
    TiffBlock place;
    int64_t index, plane, row, in_block;
  };

  template <class Read>
  void add_mask(const Read& read) {
    try {
      mask_ = read();
      if (!mask_) return;
      const TiffLayout& mask = mask_->layout_;
      require(mask.height == layout_.height && mask.width == (layout_.width + mask.packed - 1) / mask.packed,
              ErrorKind::data, "{}: the mask does not have the size of its image, {} x {} pixels",
              mask_->directory_.source(), layout_.height, layout_.width);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      fail(ErrorKind::data, "{}; this is the mask of the image, which gdal_translate -mask none leaves out",
           error.what());
    }
    info_.masked = true;
  }

  // Sets the pixels that the mask excludes to NaN in all bands.
  void mask_out(const Window& window, std::span<float> out) {
    const int64_t packed = mask_->layout_.packed, first = window.column / packed;
    const int64_t count = (window.column + window.width - 1) / packed + 1 - first;
    std::vector<float> samples(static_cast<size_t>(window.height * count));
    mask_->read(window.row, first, window.height, count, samples);
    float* pixel = out.data();
    for (int64_t row = 0; row < window.height; ++row) {
      for (int64_t column = window.column; column < window.column + window.width;
           ++column, pixel += layout_.bands) {
        const float sample = samples[static_cast<size_t>(row * count + column / packed - first)];
        const bool valid =
            packed == 1 ? sample != 0 : (static_cast<unsigned>(sample) >> (7 - column % packed) & 1U) != 0;
        if (!valid) std::fill_n(pixel, layout_.bands, std::numeric_limits<float>::quiet_NaN());
      }
    }
  }

  // Copies the part of block (y, x) of `plane` that lies in the window.
  void copy_block(int64_t y, int64_t x, int64_t plane, const Window& window, std::span<float> out) {
    const int64_t top = y * layout_.block_height, left = x * layout_.block_width;
    const int64_t first = std::max(window.row, top);
    const int64_t last = std::min(window.row + window.height, top + layout_.block_height);
    const int64_t begin = std::max(window.column, left);
    const int64_t end = std::min(window.column + window.width, left + layout_.block_width);
    const int64_t index = (plane * layout_.down + y) * layout_.across + x;
    const TiffBlock place = find_tiff_block(directory_, layout_, index);
    const int64_t samples = layout_.samples(), step = layout_.bands / samples;
    const int64_t skipped = (begin - left) * samples * layout_.item_size;
    const bool whole = block_bytes(y) <= kLargestTiffBlock && !kept_.contains(index);
    const std::byte* block = place.size > 0 && whole ? decoded(index, y).data() : nullptr;
    for (int64_t r = first; r < last; ++r) {
      float* to =
          out.data() + ((r - window.row) * window.width + begin - window.column) * layout_.bands + plane;
      const int64_t count = (end - begin) * samples;
      if (place.size == 0) {
        const auto empty = static_cast<float>(info_.nodata.value_or(0));
        for (int64_t i = 0; i < count; ++i) to[i * step] = empty;
      } else {
        const std::byte* from = block != nullptr
                                    ? block + (r - top) * layout_.row_bytes() + skipped
                                    : part_of_row({place, index, plane, r, r - top}, skipped, count);
        convert_(from, count, step, to);
      }
    }
  }

  // A whole decoded block. The most recent blocks are cached, 64 MiB in all.
  const std::vector<std::byte>& decoded(int64_t index, int64_t y) {
    if (const auto found = held_at_.find(index); found != held_at_.end()) {
      held_.splice(held_.begin(), held_, found->second);
      return found->second->bytes;
    }
    const auto size = static_cast<size_t>(layout_.rows_of(y) * layout_.row_bytes());
    while (!held_.empty() && held_bytes_ + size > static_cast<size_t>(kLargestTiffBlock)) {
      held_bytes_ -= held_.back().bytes.size();
      held_at_.erase(held_.back().index);
      held_.pop_back();
    }
    std::vector<std::byte> bytes(size);
    streamed_ = -1;
    decoded_bytes_ += static_cast<int64_t>(size);
    const auto block = static_cast<uint32_t>(index);
    const auto wanted = static_cast<tmsize_t>(size);
    const tmsize_t got = layout_.tiled ? TIFFReadEncodedTile(handle_.get(), block, bytes.data(), wanted)
                                       : TIFFReadEncodedStrip(handle_.get(), block, bytes.data(), wanted);
    if (got != wanted) fail_in_block(index, y * layout_.block_height);
    if (layout_.compression != 1 && block_bytes(y) > kSmallBlock && !begun_.insert(index).second) {
      scratch().reserve(scratch_offset(index), size);
      scratch().write(scratch_offset(index), bytes);
      kept_.insert(index);
    }
    held_.push_front({index, std::move(bytes)});
    held_bytes_ += size;
    held_at_[index] = held_.begin();
    return held_.front().bytes;
  }

  // Samples of one row of a block that is not in memory, from byte `skipped` of the row on. Valid until the
  // next call. Compressed rows depend on those before them: going back stores the strip in a temporary file.
  const std::byte* part_of_row(const Row& row, int64_t skipped, int64_t samples) {
    const auto item = static_cast<size_t>(layout_.item_size);
    const auto offset = static_cast<uint64_t>(row.in_block * layout_.row_bytes() + skipped);
    const auto goes_back = [&] {
      return row.index == streamed_ ? row.in_block < next_in_strip_ : begun_.contains(row.index);
    };
    const bool compressed = layout_.compression != 1;
    if (compressed && !kept_.contains(row.index)) {
      if (!goes_back()) {
        stream_to(row);
        return row_.data() + skipped;
      }
      keep_strip(row);
    }
    row_.resize(static_cast<size_t>(samples) * item);
    if (compressed) {
      scratch().read(scratch_offset(row.index) + offset, row_);
      return row_.data();
    }
    if (bytes_->read(row.place.offset + offset, row_) != row_.size()) fail_in_block(row.index, row.row);
    if (directory_.big_endian() && item > 1) {
      for (size_t i = 0; i < row_.size(); i += item) std::reverse(&row_[i], &row_[i] + item);
    }
    return row_.data();
  }

  // Decodes the rows of a strip from libtiff's position, or from its first row, up to `row`, which is then in
  // row_.
  void stream_to(const Row& row) {
    if (row.index != streamed_) next_in_strip_ = 0;
    streamed_ = row.index;
    begun_.insert(row.index);
    row_.resize(static_cast<size_t>(layout_.row_bytes()));
    for (; next_in_strip_ <= row.in_block; ++next_in_strip_) {
      const auto at = static_cast<uint32_t>(row.row - row.in_block + next_in_strip_);
      const int status = TIFFReadScanline(handle_.get(), row_.data(), at, static_cast<uint16_t>(row.plane));
      if (status != 1) fail_in_block(row.index, at);
      decoded_bytes_ += layout_.row_bytes();
    }
  }

  // Decodes the strip of `row` again, from its first row to its last, into the temporary file.
  void keep_strip(const Row& row) {
    const int64_t first = row.row - row.in_block, rows = layout_.rows_of(first / layout_.block_height);
    scratch().reserve(scratch_offset(row.index), static_cast<uint64_t>(rows * layout_.row_bytes()));
    streamed_ = -1;
    for (int64_t r = 0; r < rows; ++r) {
      stream_to({row.place, row.index, row.plane, first + r, r});
      scratch().write(scratch_offset(row.index) + static_cast<uint64_t>(r * layout_.row_bytes()), row_);
    }
    kept_.insert(row.index);
  }

  int64_t block_bytes(int64_t y) const { return layout_.rows_of(y) * layout_.row_bytes(); }
  ScratchFile& scratch() {
    if (!scratch_) scratch_.emplace(directory_.source());
    return *scratch_;
  }
  uint64_t scratch_offset(int64_t index) const {
    return static_cast<uint64_t>(index * layout_.block_height * layout_.row_bytes());
  }

  [[noreturn]] void fail_in_block(int64_t index, int64_t row) {
    streamed_ = -1;
    const std::string reason = handle_.reason();
    const TiffBlock place = find_tiff_block(directory_, layout_, index);
    fail(ErrorKind::data, "{}: {} {} (row {}; {} bytes from byte {}) cannot be decoded: {}",
         directory_.source(), layout_.block_name(), index, row, place.size, place.offset, reason);
  }

  std::shared_ptr<const ByteSource> bytes_;
  TiffDirectory directory_;
  TiffLayout layout_;
  Convert convert_;
  TiffHandle handle_;
  TiffInfo info_;
  std::unique_ptr<Impl> mask_;
  std::mutex mutex_;
  std::list<Held> held_;  // most recent first
  std::unordered_map<int64_t, std::list<Held>::iterator> held_at_;
  size_t held_bytes_ = 0;
  std::vector<std::byte> row_;
  int64_t streamed_ = -1,
          next_in_strip_ = 0;       // libtiff's current strip, and the row it decodes next
  std::set<int64_t> begun_, kept_;  // large blocks that were decoded once; those stored in scratch_
  std::optional<ScratchFile> scratch_;
  int64_t decoded_bytes_ = 0;
};

TiffReader::TiffReader(const std::filesystem::path& path)
    : impl_(std::make_unique<Impl>(std::make_shared<FileSource>(path), path.string())) {
  impl_->add_mask_file(path.string() + ".msk");
}
TiffReader::TiffReader(std::span<const std::byte> bytes, std::string source)
    : impl_(std::make_unique<Impl>(std::make_shared<MemorySource>(bytes), std::move(source))) {}
TiffReader::~TiffReader() = default;
TiffReader::TiffReader(TiffReader&&) noexcept = default;
TiffReader& TiffReader::operator=(TiffReader&&) noexcept = default;

const TiffInfo& TiffReader::info() const {
  return impl_->info();
}
int64_t TiffReader::block_height() const {
  return impl_->layout().block_height;
}
int64_t TiffReader::block_width() const {
  return impl_->layout().block_width;
}

int64_t TiffReader::decoded_bytes() const {
  return impl_->decoded_bytes();
}

void TiffReader::read(int64_t row, int64_t column, int64_t height, int64_t width,
                      std::span<float> out) const {
  impl_->read(row, column, height, width, out);
}

std::vector<float> TiffReader::read(int64_t row, int64_t column, int64_t height, int64_t width) const {
  std::vector<float> values(static_cast<size_t>(std::max<int64_t>(height * width * info().bands, 0)));
  read(row, column, height, width, values);
  return values;
}

}  // namespace modewise::io
