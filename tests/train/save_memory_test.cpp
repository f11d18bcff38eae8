// Extra memory of saving a checkpoint, by the peak resident memory of the process, which covers all
// allocators.

#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>

#include "modewise/train/checkpoint/checkpoint.h"
#include "tests/scratch_folder.h"

namespace modewise::train {
namespace {

constexpr int64_t kMiB = 1 << 20;

/// A line of /proc/self/status, in bytes.
int64_t status(const std::string& wanted) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name; file.ignore(1000, '\n')) {
    int64_t kilobytes = 0;
    if (name == wanted && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

/// Resets the peak resident memory; false if the system does not support it.
bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  return file.good();
}

/// One third of the bytes as model weights, the rest as optimizer state.
int64_t bytes_to_save(int64_t bytes, const std::filesystem::path& folder) {
  std::vector<NamedTensor> model, optimizer;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "weight" + std::to_string(i);
    model.push_back({name, at::full({bytes / 30 / 4}, 0.5F)});
    for (const char* part : {".mean", ".square"})
      optimizer.push_back({name + part, at::full({bytes / 30 / 4}, 0.25F)});
  }
  const CheckpointStore store(folder);
  malloc_trim(0);
  EXPECT_TRUE(forget_peak());
  const int64_t before = status("VmRSS:");
  store.save(1, {{"step", 1}},
             {weight_file("model.safetensors", model), weight_file("optimizer.safetensors", optimizer)}, 1);
  EXPECT_GT(before, bytes);
  return status("VmHWM:") - before;
}

TEST(SaveMemory, DoesNotGrowWithTheTensors) {
  if (!forget_peak()) GTEST_SKIP() << "the peak of resident memory cannot be reset here";
  const ScratchFolder scratch;
  bytes_to_save(0, scratch / "first");  // warm-up: loads code
  const int64_t without = bytes_to_save(0, scratch / "without");
  EXPECT_LT(bytes_to_save(64 * kMiB, scratch / "with"), without + 8 * kMiB);
}

}  // namespace
}  // namespace modewise::train
