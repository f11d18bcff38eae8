#pragma once
// Where pictures come from; load_pictures() chooses. Each source sets pixels, labels, names and notes, and
// splits where it knows them or must split before it reads.

#include "modewise/data/image_classification/images.h"
#include "modewise/io/images/picture.h"

namespace modewise::data {

/// Whether a folder holds batches of CIFAR-10.
bool holds_cifar(const std::string& folder);
/// data_batch_1.bin … data_batch_5.bin, as many as there are, test_batch.bin, and batches.meta.txt with the
/// classes' names where it is there.
ImageSet read_cifar_images(const ImageConfig& config, bool with_test);
/// A folder for each class, in the folder itself or in its folders train, val (valid, validation) and test.
/// With classes in the config also a folder of pictures alone or one picture, which then have no class.
/// Classes and files are in the order of their bytes. Pictures are the files .png, .jpg and .jpeg; what else
/// lies there is left out with a warning, and what begins with a dot without one.
ImageSet read_image_folders(const ImageConfig& config, bool with_test);
/// MedMNIST's arrays train_images, train_labels, val_… and test_…, or images and labels; images are
/// [n, h, w] or [n, h, w, 3] of uint8.
ImageSet read_npz_images(const ImageConfig& config, bool with_test);

/// Puts pictures side by side, each of the configured size and channels.
class ImageStore {
 public:
  ImageStore(const ImageConfig& config, int64_t count) : config_(config), count_(count) {}
  /// `name` opens the data error where its size is not that of those before.
  void put(int64_t place, io::Image image, const std::string& name);
  /// [N, H, W, C]; one channel where none of them has a color and the config leaves it open.
  at::Tensor take();

 private:
  void begin(const io::Image& first, const std::string& name);

  const ImageConfig& config_;
  int64_t count_;
  at::Tensor pixels_;
  std::string first_;  // its name
  bool colored_ = false;
};

/// Pictures [N, h, w, c] as the config wants them; the same tensor where they are so already.
at::Tensor stored_images(const at::Tensor& pixels, const ImageConfig& config, const std::string& name);

}  // namespace modewise::data
