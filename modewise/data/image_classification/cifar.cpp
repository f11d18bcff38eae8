// CIFAR-10 in its binary format.

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/data/image_classification/sources.h"
#include "modewise/io/images/cifar.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

constexpr int kBatches = 5;
constexpr int64_t kPublishedBatch = 10000;

std::string batch_name(int number) {
  return fmt::format("data_batch_{}.bin", number);
}

/// Class names, one per line; CIFAR-10's names if the file does not exist.
std::vector<std::string> names_of(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {io::kCifarNames.begin(), io::kCifarNames.end()};
  const std::string content = read_file(path);
  std::vector<std::string> names;
  const io::TextInput input(as_bytes(content), path.string());
  std::string_view text = input.text();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty()) names.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  require(names.size() == io::kCifarClasses, ErrorKind::data,
          "{}: expected the names of {} classes, one per line, found {}", path.string(), io::kCifarClasses,
          names.size());
  return names;
}

/// Concatenated batches.
struct CifarRecords {
  std::vector<std::vector<uint8_t>> pixels;
  int64_t count = 0;

  void add(ImageSet& set, const std::filesystem::path& file, std::vector<int64_t>& split) {
    io::CifarBatch batch = io::read_cifar(file);
    for (size_t i = 0; i < batch.labels.size(); ++i) {
      split.push_back(count++);
      set.labels.push_back(batch.labels[i]);
      set.names.push_back(fmt::format("{} {}", file.stem().string(), i));
    }
    pixels.push_back(std::move(batch.pixels));
  }
  at::Tensor take() {
    at::Tensor all = at::empty({count, io::kCifarSide, io::kCifarSide, 3}, at::kByte);
    uint8_t* to = all.mutable_data_ptr<uint8_t>();
    for (std::vector<uint8_t>& part : pixels) {
      std::memcpy(to, part.data(), part.size());
      to += part.size();
      part = {};
    }
    return all;
  }
};

}  // namespace

bool holds_cifar(const std::string& folder) {
  const std::filesystem::path root = folder;
  if (std::filesystem::exists(root / "test_batch.bin")) return true;
  for (int i = 1; i <= kBatches; ++i)
    if (std::filesystem::exists(root / batch_name(i))) return true;
  return false;
}

bool holds_cifar_pickles(const std::string& folder) {
  const std::filesystem::path root = folder;
  return std::filesystem::exists(root / "data_batch_1") && std::filesystem::exists(root / "batches.meta");
}

ImageSet read_cifar_images(const ImageConfig& config, bool with_test) {
  const std::filesystem::path root = config.path;
  require(holds_cifar(config.path), ErrorKind::no_input,
          "{}: expected CIFAR-10's files data_batch_1.bin to data_batch_5.bin and test_batch.bin, found none",
          config.path);
  ImageSet set;
  set.classes = names_of(root / "batches.meta.txt");
  CifarRecords records;
  for (int i = 1; i <= kBatches; ++i) {
    if (std::filesystem::exists(root / batch_name(i))) {
      records.add(set, root / batch_name(i), set.train);
    } else {
      set.notes.push_back(fmt::format("{}: there is no {}", config.path, batch_name(i)));
      ++set.warnings;
    }
  }
  if (with_test) records.add(set, root / "test_batch.bin", set.test);
  const int64_t test = with_test ? std::ssize(set.test) : kPublishedBatch;
  if (std::ssize(set.train) != kBatches * kPublishedBatch || test != kPublishedBatch) {
    set.notes.push_back(
        fmt::format("{}: {} training{} images, but CIFAR-10 has 50000 and 10000: results are not comparable "
                    "with published ones",
                    config.path, set.train.size(), with_test ? fmt::format(" and {} test", test) : ""));
    ++set.warnings;
  }
  set.pixels = stored_images(records.take(), config, config.path);
  return set;
}

}  // namespace modewise::data
