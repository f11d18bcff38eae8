// Devices that are asked for, on machines with and without CUDA, alone and as one of several processes.

#include "modewise/train/loop/compute_device.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/error_of.h"

namespace modewise::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

at::Device cuda(int index = -1) {
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

std::string refusal(at::Device asked, const CudaMachine& machine) {
  return error_of(ErrorKind::config, [&] { cuda_device(asked, machine); });
}

TEST(CudaDevice, IsTheAskedOneOfASingleProcess) {
  const CudaMachine two = {.built = true, .devices = 2};
  EXPECT_EQ(cuda_device(cuda(), two), cuda());
  EXPECT_EQ(cuda_device(cuda(1), two), cuda(1));
  EXPECT_THAT(refusal(cuda(2), two),
              HasSubstr("device cuda:2: torch finds 2 CUDA devices, the last is cuda:1"));
  EXPECT_THAT(refusal(cuda(7), {.built = true, .devices = 1}),
              HasSubstr("1 CUDA device, the last is cuda:0"));
  EXPECT_THAT(refusal(cuda(), {.built = true}), HasSubstr("finds no CUDA device"));
  EXPECT_THAT(refusal(cuda(), {}), AllOf(HasSubstr("built without CUDA"), HasSubstr("--device cpu")));
}

TEST(CudaDevice, IsAnOwnOneOfEachProcess) {
  for (const int process : {0, 1, 3})
    EXPECT_EQ(cuda_device(cuda(), {.built = true, .devices = 4, .process = process, .processes = 4}),
              cuda(process));
  EXPECT_THAT(refusal(cuda(), {.built = true, .devices = 2, .process = 2, .processes = 4}),
              AllOf(HasSubstr("2 CUDA devices for 4 processes"), HasSubstr("--nproc-per-node 2")));
  EXPECT_THAT(refusal(cuda(0), {.built = true, .devices = 2, .process = 1, .processes = 2}),
              HasSubstr("each of the 2 processes takes a CUDA device of its own: --device cuda"));
}

TEST(CudaDevice, IsMissingWhereNoneIsVisible) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const std::string sentence = refusal(cuda(), {.built = true});
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(sentence, AllOf(HasSubstr("finds no CUDA device (CUDA_VISIBLE_DEVICES is '')"),
                              HasSubstr("take --device cpu")));
}

}  // namespace
}  // namespace modewise::train
