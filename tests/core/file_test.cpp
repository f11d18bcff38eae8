#include "modewise/core/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "modewise/core/error.h"
#include "modewise/core/folder.h"
#include "modewise/core/hash.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/output_file.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class File : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::temp_directory_path() / ("modewise_file_test_" + std::to_string(::getpid()));
};

TEST_F(File, AtomicWriteReplacesAndLeavesNoTemporary) {
  const fs::path path = folder_ / "a.txt";
  write_file_atomically(path, std::string_view("one"));
  write_file_atomically(path, std::string_view("two\n"));
  EXPECT_EQ(read_file(path), "two\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, FailedWriteKeepsTheOldFileAndNamesTheReason) {
  const fs::path path = folder_ / "missing" / "a.txt";
  try {
    write_file_atomically(path, std::string_view("x"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
  fs::create_directory(folder_ / "taken");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { write_file_atomically(folder_ / "taken", std::string_view("x")); }),
            "cannot rename the temporary file to " + (folder_ / "taken").string() + ": Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, ReplacingAFileKeepsItsPermissions) {
  const fs::path path = folder_ / "secret";
  write_file_atomically(path, std::string_view("one"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0644));
  for (const auto mode : {0600, 0444, 0666}) {
    ASSERT_EQ(::chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    write_file_atomically(path, std::string_view("two"));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(mode));
  }
}

TEST_F(File, PipesAndDescriptorsAreWrittenToAndStay) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const fs::path pipe = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_TRUE(is_stream(pipe));
  write_file_atomically(pipe, std::string_view("through"));
  char text[16] = {};
  EXPECT_EQ(::read(ends[0], text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  // A descriptor of a plain file is also a stream.
  std::ofstream(folder_ / "plain") << "before, ";
  const int plain = ::open((folder_ / "plain").c_str(), O_WRONLY | O_APPEND);
  write_file_atomically("/proc/self/fd/" + std::to_string(plain), std::string_view("after"));
  EXPECT_EQ(read_file(folder_ / "plain"), "before, after");
  for (const int fd : {ends[0], ends[1], plain}) ::close(fd);
  EXPECT_TRUE(is_stream("/dev/null"));
  EXPECT_FALSE(is_stream(folder_ / "plain"));
  EXPECT_FALSE(is_stream(folder_));
  EXPECT_FALSE(is_stream(folder_ / "nothing"));
}

TEST_F(File, AnUnfinishedFileLeavesNothing) {
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  {
    OutputFile file(folder_ / "a.txt");
    file.write(as_bytes("half"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
    EXPECT_EQ(descriptors(), before + 1);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_EQ(descriptors(), before);
}

TEST_F(File, PiecesOfAnySizeStandInTheirOrder) {
  std::string wanted;
  OutputFile file(folder_ / "pieces");
  for (const size_t size : {1, 0, 65535, 65536, 1, 65537, 300000, 17, 65519, 2}) {
    const std::string piece(size, static_cast<char>('a' + wanted.size() % 23));
    file.write(as_bytes(piece));
    wanted += piece;
  }
  file.finish();
  EXPECT_EQ(read_file(folder_ / "pieces"), wanted);
}

TEST_F(File, AFullDiskIsAnIoErrorForSmallPiecesAndLargeOnes) {
  for (const size_t size : {1, 100000}) {
    try {
      OutputFile file("/dev/full");
      file.write(as_bytes(std::string(size, 'x')));
      file.finish();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
    }
  }
}

TEST_F(File, AFileThatAppearsAtOnceGoesWhenItIsNotFinished) {
  {
    OutputFile file(folder_ / "a.txt", Appears::at_once);
    file.write(as_bytes("half"));
    EXPECT_TRUE(fs::exists(folder_ / "a.txt"));
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  OutputFile file(folder_ / "a.txt", Appears::at_once);
  file.write(as_bytes("whole"));
  file.finish();
  EXPECT_EQ(read_file(folder_ / "a.txt"), "whole");
}

TEST_F(File, WhatIsWrittenInANewFolderTakesNobodysPlace) {
  std::ofstream(folder_ / "victim") << "mine";
  fs::create_symlink(folder_ / "victim", folder_ / "planted");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { write_file_synced(folder_ / "planted", as_bytes("x")); }),
            "cannot create " + (folder_ / "planted").string() + ": File exists");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { write_file_synced(folder_ / "victim", as_bytes("x")); }),
            "cannot create " + (folder_ / "victim").string() + ": File exists");
  EXPECT_EQ(read_file(folder_ / "victim"), "mine");
}

TEST_F(File, OnlyOwnTemporariesAreRemoved) {
  const fs::path own = temporary_beside(folder_ / "model");
  EXPECT_NE(own, temporary_beside(folder_ / "model"));
  fs::create_directory(own);
  std::ofstream(own / "half") << "x";
  const std::vector<std::string> others = {"x.tmp-5", "model.tmp-5", "model.tmp-0123456789abcdeg",
                                           "other.tmp-0123456789abcdef", ".tmp-0123456789abcdef"};
  for (const std::string& name : others) fs::create_directory(folder_ / name);
  remove_temporaries(folder_, [](std::string_view name) { return name == "model"; });
  EXPECT_FALSE(fs::exists(own));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
}

TEST_F(File, TemporariesThatAreOpenOrFoldersAreNotStale) {
  const fs::path stale = temporary_beside(folder_ / "model"), open = temporary_beside(folder_ / "model"),
                 other = temporary_beside(folder_ / "other"), folder = temporary_beside(folder_ / "model");
  for (const fs::path& path : {stale, open, other}) std::ofstream(path) << "half";
  fs::create_directory(folder);
  fs::create_symlink(other, folder_ / "model.tmp-0123456789abcdef");
  {
    const std::ifstream held(open);
    remove_stale_temporaries(folder_, [](std::string_view name) { return name == "model"; });
    EXPECT_FALSE(fs::exists(stale));
    for (const fs::path& path : {open, other, folder, folder_ / "model.tmp-0123456789abcdef"})
      EXPECT_TRUE(fs::exists(fs::symlink_status(path))) << path;
  }
  prepare_output(folder_ / "model", false);
  EXPECT_FALSE(fs::exists(open));
  EXPECT_TRUE(fs::exists(other));
  remove_stale_temporaries(folder_ / "none", [](std::string_view) { return true; });
}

TEST_F(File, AFolderAppearsWithAllItsFilesOrNot) {
  const fs::path model = folder_ / "deep" / "model", left = temporary_beside(model);
  make_folders(left);
  const auto fill = [](const fs::path& folder) {
    write_file_atomically(folder / "a", std::string_view("a"));
  };
  const auto fail_there = [&](const fs::path& folder) {
    fill(folder);
    EXPECT_FALSE(fs::exists(model / "a"));
    fail(ErrorKind::io, "the disk is full");
  };
  EXPECT_EQ(error_of(ErrorKind::io, [&] { write_folder_atomically(model, fail_there); }), "the disk is full");
  EXPECT_TRUE(fs::is_empty(folder_ / "deep"));
  fs::create_directory(model);  // an empty folder is replaced
  write_folder_atomically(model / "", fill);
  EXPECT_EQ(read_file(model / "a"), "a");
  write_folder_atomically(model, [&](const fs::path& folder) { EXPECT_EQ(folder, model); });
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "deep"), fs::directory_iterator()), 1);
}

TEST_F(File, FoldersAreMadeWithThoseAboveThem) {
  make_folders(folder_ / "a/b/c/");
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b/c"));
  make_folders(folder_ / "a/b/c");
  std::ofstream(folder_ / "file") << "";
  for (const fs::path& path : {folder_ / "file", folder_ / "file/below"}) {
    try {
      make_folders(path);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
    }
  }
}

TEST_F(File, ReadingAFolderOrNothingIsNoInput) {
  for (const fs::path& path : {folder_, folder_ / "nothing"}) {
    try {
      read_file(path);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 66);
    }
  }
}

// Reference values of the xxHash project for XXH3 128 bits, seed 0.
TEST(CopyDurably, AFolderIsCopiedWithAllInItToANewPlace) {
  const ScratchFolder folder;
  const std::string large(3'000'000, 'x');
  folder.write("from/a.txt", "a");
  folder.write("from/deep/er/b.bin", large);
  fs::create_directories(folder / "from/empty");
  copy_durably(folder / "from", folder / "to");
  std::vector<std::string> copied;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "to"))
    copied.push_back(fs::relative(entry.path(), folder / "to").string());
  EXPECT_THAT(copied, testing::UnorderedElementsAre("a.txt", "deep", "deep/er", "deep/er/b.bin", "empty"));
  EXPECT_EQ(read_file(folder / "to/a.txt"), "a");
  EXPECT_EQ(read_file(folder / "to/deep/er/b.bin"), large);
  const std::string from = folder.path("from/a.txt"), to = folder.path("to/a.txt");
  const auto message = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([&] { copy_durably(from, to); }), "cannot create " + to + ": File exists");
  EXPECT_EQ(message([&] { copy_durably(folder / "none", folder / "x"); }),
            "cannot open " + folder.path("none") + ": No such file or directory");
}

TEST(ContentHash, MatchesXxh3OfTheEmptyInput) {
  EXPECT_EQ(content_hash({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_hash(as_bytes("a")), content_hash(as_bytes("b")));
}

TEST(ContentHash, OfPartsIsThatOfTheWhole) {
  EXPECT_EQ(ContentHash().text(), content_hash({}));
  std::string text;
  for (int i = 0; i < 3001; ++i) text += static_cast<char>(i * i % 251);
  for (const size_t part : {1, 7, 63, 256, 1024, 3001}) {
    ContentHash hash;
    for (size_t first = 0; first < text.size(); first += part)
      hash.add(as_bytes(std::string_view(text).substr(first, part)));
    EXPECT_EQ(hash.text(), content_hash(as_bytes(text))) << part;
  }
}

TEST(NearestName, OffersOnlyNearNames) {
  const std::vector<std::string> names = {"learning_rate", "weight_decay", "epochs"};
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(nearest_name_hint("lerning_rate", names), " (did you mean 'learning_rate'?)");
  EXPECT_EQ(nearest_name_hint("epoch", names), " (did you mean 'epochs'?)");
  EXPECT_EQ(nearest_name_hint("colour", names), "");
  // The largest distance is 2, or a third of the length.
  EXPECT_EQ(nearest_name_hint("epochs__", names), " (did you mean 'epochs'?)");
  EXPECT_EQ(nearest_name_hint("weight_decay______", names), " (did you mean 'weight_decay'?)");
  EXPECT_EQ(nearest_name_hint("weight_decay_______", names), "");
}

TEST(NearestName, DoesNotCompareNamesOfOtherLengths) {
  const std::vector<std::string> names(1000, "learning_rate");
  EXPECT_EQ(nearest_name_hint(std::string(size_t{1} << 20, 'x'), names), "");  // half a minute otherwise
}

}  // namespace
}  // namespace modewise
