#include "modewise/io/images/cifar.h"

#include "tests/io/damage.h"

namespace modewise::io {
namespace {

void try_cifar(std::span<const std::byte> bytes) {
  parse_cifar(bytes, "file");
}

std::string record(uint8_t label, int step) {
  std::string text(1, static_cast<char>(label));
  for (int i = 0; i < 3072; ++i) text += static_cast<char>(i * step % 251);
  return text;
}

TEST(Cifar, PutsTheChannelsSideBySide) {
  const CifarBatch batch = parse_cifar(to_bytes(record(9, 1) + record(0, 7)), "file");
  EXPECT_EQ(batch.labels, (std::vector<uint8_t>{9, 0}));
  ASSERT_EQ(batch.pixels.size(), 6144U);
  for (const int n : {0, 1}) {
    for (const int pixel : {0, 1, 33, 1023}) {
      for (int c = 0; c < 3; ++c) {
        const int stored = (c * 1024 + pixel) * (n == 0 ? 1 : 7) % 251;
        EXPECT_EQ(batch.pixels[static_cast<size_t>(n * 3072 + pixel * 3 + c)], stored)
            << n << " " << pixel << " " << c;
      }
    }
  }
}

TEST(Cifar, RefusesEveryTruncation) {
  const std::string valid = record(3, 5);
  expect_every_truncation_fails(try_cifar, valid);
  const std::string two = valid + valid;
  for (size_t length = 3074; length < two.size(); length += 97)
    EXPECT_THAT(message_of(try_cifar, two.substr(0, length)),
                testing::HasSubstr(fmt::format("record 1 has {}, so the file is truncated", length - 3073)));
}

TEST(Cifar, NamesTheRecordThatIsWrong) {
  const std::string good = record(9, 1);
  expect_refused(try_cifar,
                 {{"label 10", good + record(10, 1),
                   "file: record 1 (byte 3073) has label 10, but CIFAR-10 has the "
                   "labels 0 to 9"},
                  {"CIFAR-100", record(11, 1),
                   "file: record 0 (byte 0) has label 11, but CIFAR-10 has the labels 0 to 9"},
                  {"nothing", "", "file: expected records of 3073 bytes, the file is empty"},
                  {"one more byte", good + "x",
                   "file: 3074 bytes are not a multiple of the record size 3073: record 1 has 1, so "
                   "the file is truncated or not a CIFAR-10 batch"}});
}

}  // namespace
}  // namespace modewise::io
