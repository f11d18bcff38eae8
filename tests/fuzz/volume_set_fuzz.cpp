#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include "modewise/data/volume_classification/volumes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

// A NIfTI volume in a folder of volumes, as stored and resampled: scaled batches with masks.
FUZZ_TARGET(volume_set) {
  static const InputFolder folder({{"volumes/first.nii", "nifti/u8"}, {"volumes/second.nii", "nifti/u8"}});
  folder.write("volumes/input.nii", input_text(data, size));
  VolumeConfig config;
  config.path = folder.path() / "volumes";
  config.labels =
      folder.write("labels.csv", "file,label,split\nfirst,a,train\nsecond,b,train\ninput,a,train\n");
  if (size % 2 == 0) config.size = {3, 2, 2};
  return survive([&] {
    const VolumeSet set = load_volumes(config);
    expect(set.count() == 3 && set.train.size() == 3);
    int64_t voxels = set.channels();
    for (const int64_t length : set.size()) voxels *= length;
    if (voxels > 10000) return;
    const LabelledBatch batch = gather_volumes(set, set.train);
    expect(batch.values.size(0) == 3 && at::isfinite(batch.values).all().item<bool>());
    expect(set.masked() == batch.valid.defined());
    two_valued(set);
  });
}
