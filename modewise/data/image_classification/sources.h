#pragma once
// Readers of load_images(). Each sets pixels, labels, names and notes, and splits if the data has them or
// must be split before reading.

#include "modewise/data/image_classification/images.h"
#include "modewise/io/images/image.h"

namespace modewise::data {

/// Reads data_batch_1.bin … data_batch_5.bin (those that exist), test_batch.bin, and class names from
/// batches.meta.txt if it exists.
ImageSet read_cifar_images(const ImageConfig& config, bool with_test);
/// Reads the images below a folder that has a table of labels (data.labels, labels.csv), by path. Else one
/// folder per class, in the folder itself or in its folders train, val (valid, validation) and test. With
/// data.classes also a folder of images only, or one image, without classes. Classes and files are in byte
/// order. Images are .png, .jpg and .jpeg files; other entries are skipped with a warning, system files
/// (core/data_files.h) without. Broken files are left out up to data.skip_broken, after the split.
ImageSet read_image_folders(const ImageConfig& config, bool with_test);
/// Reads MedMNIST's arrays train_images, train_labels, val_… and test_…, or images and labels; images are
/// [n, h, w] or [n, h, w, 3] uint8.
ImageSet read_npz_images(const ImageConfig& config, bool with_test);

/// Stacks images, converted to the configured size and channels.
class ImageStore {
 public:
  /// `file_bytes`: of all files; unless data.size is set, the images may take unpacked_limit() of it.
  ImageStore(const ImageConfig& config, int64_t count, int64_t file_bytes)
      : config_(config), count_(count), file_bytes_(file_bytes) {}
  /// Data error, beginning with `name`, if the size differs from previous images.
  void put(int64_t place, io::Image image, const std::string& name);
  /// [N, H, W, C]; one channel if no image has colors and the config does not set channels.
  at::Tensor take();

 private:
  void begin(const io::Image& first, const std::string& name);
  void widen();

  const ImageConfig& config_;
  int64_t count_, file_bytes_;
  at::Tensor pixels_;    // [N, H, W, 3] or [N, H, W, 1]
  bool packed_ = false;  // only grey so far: one byte per pixel at the beginning of pixels_
  int64_t end_ = 0;      // of the packed pixels
  std::string first_;    // name of the first image
};

/// Images [N, h, w, c] converted to the configured size and channels; the same tensor if nothing changes.
at::Tensor stored_images(const at::Tensor& pixels, const ImageConfig& config, const std::string& name);

}  // namespace modewise::data
