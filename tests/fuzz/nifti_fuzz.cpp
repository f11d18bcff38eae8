#include <algorithm>
#include <cmath>

#include "modewise/io/images/nifti.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(nifti) {
  return survive([&] {
    const NiftiVolume volume = parse_nifti(input_bytes(data, size), "file");
    int64_t voxels = 1;
    for (const int64_t length : volume.shape) voxels *= length;
    expect(volume.shape.size() >= 3 && static_cast<int64_t>(volume.values.size()) == voxels);
    // Reorientation only moves voxels.
    const auto finite = [](const NiftiVolume& v) {
      return std::count_if(v.values.begin(), v.values.end(),
                           [](float value) { return std::isfinite(value); });
    };
    const NiftiVolume rotated = parse_nifti(input_bytes(data, size), "file", NiftiAxes::ras);
    expect(rotated.orientation == "RAS" && rotated.values.size() == volume.values.size());
    expect(finite(rotated) == finite(volume));
  });
}
