#include "modewise/train/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/hash.h"
#include "tests/error_of.h"
#include "tests/failing_calls.h"
#include "tests/scratch_folder.h"

namespace modewise::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A store with checkpoints of steps 10 and 20.
class Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    save(10);
    save(20);
  }
  void save(int64_t step, int64_t keep = 2) {
    store.save(step, {{"step", step}},
               {text_file("model.safetensors", "model " + std::to_string(step)), text_file("empty", "")},
               keep);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& entry : fs::directory_iterator(folder)) list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    return list;
  }
  void expect_fallback(const std::string& what) {
    SCOPED_TRACE(what);
    EXPECT_NE(checkpoint_damage(folder / "step_20"), "");
    const auto found = store.newest();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->step, 10);
    EXPECT_EQ(found->state.at("step"), 10);
  }

  ScratchFolder scratch;
  fs::path folder = scratch / "checkpoints";
  CheckpointStore store{folder};
};

TEST_F(Checkpoints, NewestIsFoundAndLatestNamesIt) {
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_10", "step_20"));
  EXPECT_EQ(store.newest()->step, 20);
  EXPECT_EQ(read_file(folder / "latest"), "step_20\n");
  EXPECT_EQ(read_file(folder / "step_20" / "model.safetensors"), "model 20");
}

TEST_F(Checkpoints, OnlyTheNewestAreKept) {
  save(30);
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_20", "step_30"));
  save(100, 1);
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_100"));
}

TEST_F(Checkpoints, AStepSavedAgainStandsBesideTheFirst) {
  save(20, 3);
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_10", "step_20", "step_20.1"));
  EXPECT_EQ(store.newest()->folder.filename(), "step_20.1");
}

TEST_F(Checkpoints, EveryFlippedByteIsNoticed) {
  for (const char* name : {"model.safetensors", "state.json", "manifest.json"}) {
    const fs::path path = folder / "step_20" / name;
    const std::string whole = read_file(path);
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      write(path, flipped);
      EXPECT_NE(checkpoint_damage(folder / "step_20"), "") << name << " byte " << i;
    }
    expect_fallback(std::string(name) + " flipped");
    write(path, whole);
    EXPECT_EQ(checkpoint_damage(folder / "step_20"), "");
  }
}

TEST_F(Checkpoints, EveryTruncationAndDeletionIsNoticed) {
  for (const char* name : {"model.safetensors", "state.json", "manifest.json"}) {
    const fs::path path = folder / "step_20" / name;
    const std::string whole = read_file(path);
    for (size_t size = 0; size < whole.size(); ++size) {
      write(path, whole.substr(0, size));
      EXPECT_NE(checkpoint_damage(folder / "step_20"), "") << name << " cut to " << size;
    }
    write(path, whole + "x");
    EXPECT_NE(checkpoint_damage(folder / "step_20"), "");
    fs::remove(path);
    expect_fallback(std::string(name) + " deleted");
    fs::create_directory(path);
    expect_fallback(std::string(name) + " is a folder");
    fs::remove(path);
    write(path, whole);
  }
}

TEST_F(Checkpoints, AManifestThatLiesIsNoSurprise) {
  for (const char* text :
       {"", "{}", "[]", "null", "{\"format\":1}", "{\"format\":1,\"files\":7,\"hash\":\"\"}", "\xff"}) {
    write(folder / "step_20" / "manifest.json", text);
    expect_fallback(text);
  }
}

TEST_F(Checkpoints, WhatIsWrongUnderAValidHashIsNamed) {
  using Json = nlohmann::ordered_json;
  fs::remove_all(folder / "step_10");
  const fs::path step = folder / "step_20";
  const Json whole = Json::parse(read_file(step / "manifest.json"));
  const auto rewrite = [&](const char* state, const std::function<void(Json&)>& change) {
    Json manifest = whole;
    write(step / "state.json", state);
    manifest.erase("hash");
    manifest["files"]["state.json"] = {{"size", std::string_view(state).size()},
                                       {"hash", content_hash(as_bytes(std::string_view(state)))}};
    change(manifest);
    manifest["hash"] = content_hash(as_bytes(manifest.dump()));
    write(step / "manifest.json", manifest.dump(1) + "\n");
  };
  const auto nothing = [](Json&) {};
  rewrite("{\"step\":20}", nothing);
  EXPECT_EQ(store.newest()->step, 20);
  const std::string manifest = (step / "manifest.json").string(), state = (step / "state.json").string();
  for (const auto& [text, change, damage] :
       std::initializer_list<std::tuple<const char*, std::function<void(Json&)>, std::string>>{
           {"{}", [](Json& json) { json["files"].erase("state.json"); }, manifest + " lists no state.json"},
           {"{}", [](Json& json) { json.erase("files"); }, manifest + " is not a manifest"},
           {"{}", [](Json& json) { json["files"]["state.json"].erase("hash"); },
            manifest + " is not a manifest"},
           {"{}", [](Json& json) { json["format"] = 2; },
            manifest + " has format 2, this program reads format 1"},
           {"[]", nothing, state + " is not a JSON object"},
           {"{]", nothing, state + ": not JSON"}}) {
    rewrite(text, change);
    EXPECT_THAT(error_of(ErrorKind::data, [&] { store.newest(); }),
                HasSubstr("no checkpoint in " + folder.string() + " is intact: " + damage));
  }
}

TEST_F(Checkpoints, BothDamagedIsAnErrorThatNamesBoth) {
  write(folder / "step_20" / "model.safetensors", "model 2x");
  fs::remove(folder / "step_10" / "state.json");
  try {
    store.newest();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), HasSubstr("step_20/model.safetensors does not match its hash"));
    EXPECT_THAT(error.what(), HasSubstr("step_10/state.json is missing"));
  }
}

TEST_F(Checkpoints, AllDeletedIsAnErrorAndNoneEverIsNot) {
  fs::remove_all(folder / "step_10");
  fs::remove_all(folder / "step_20");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { store.newest(); }),
            scratch.path("checkpoints/latest") + " names a checkpoint, but " + scratch.path("checkpoints") +
                " contains none");
  EXPECT_FALSE(CheckpointStore(scratch / "nothing").newest().has_value());
}

TEST_F(Checkpoints, AFolderThatCannotBeListedIsAnError) {
  write(scratch / "file", "");
  EXPECT_EQ(error_of(ErrorKind::io, [&] { CheckpointStore(scratch / "file").newest(); }),
            "cannot list folder " + scratch.path("file") + ": Not a directory");
}

TEST_F(Checkpoints, ACheckOfTheCallerMayRefuseTheNewest) {
  const auto found = store.newest([](const auto& state) { return state.at("step") == 20 ? "too new" : ""; });
  EXPECT_EQ(found->step, 10);
}

TEST_F(Checkpoints, DamagedOnesAreSetAside) {
  write(folder / "step_20" / "model.safetensors", "");
  store.resume_from(*store.newest());
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_10", "step_20.damaged"));
  save(20);
  EXPECT_EQ(store.newest()->step, 20);
}

TEST_F(Checkpoints, AResumeLetsLatestNameTheNewest) {
  for (const char* left : {"step_10\n", ""}) {  // by a save that was killed before it replaced the file
    SCOPED_TRACE(left);
    write(folder / "latest", left);
    store.resume_from(*store.newest());
    EXPECT_EQ(read_file(folder / "latest"), "step_20\n");
  }
  fs::remove(folder / "latest");
  store.resume_from(*store.newest());
  EXPECT_EQ(read_file(folder / "latest"), "step_20\n");
}

TEST_F(Checkpoints, AFolderWithoutARevisionBehindItsDotIsNone) {
  fs::create_directory(folder / "step_30.");
  store.resume_from(*store.newest());
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_10", "step_20", "step_30."));
}

TEST_F(Checkpoints, LeftoversAreRemovedAndOtherFilesAreNot) {
  const fs::path unfinished = temporary_beside(folder / "step_30");
  fs::create_directory(unfinished);
  write(unfinished / "model.safetensors", "half");
  write(temporary_beside(folder / "latest"), "half");
  write(folder / "notes.tmp-x", "mine");
  write(folder / "step_x", "mine");
  store.remove_leftovers();
  EXPECT_THAT(names(), testing::ElementsAre("latest", "notes.tmp-x", "step_10", "step_20", "step_x"));
}

TEST_F(Checkpoints, AFailureIsAnIoErrorAndLeavesTheEarlierOnes) {
  fs::remove(folder / "latest");
  fs::create_directory(folder / "latest");  // cannot be replaced by a file
  try {
    save(30);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 74);
    EXPECT_THAT(error.what(), HasSubstr("checkpoint of step 30 not saved"));
  }
  EXPECT_EQ(checkpoint_damage(folder / "step_10"), "");
  EXPECT_EQ(checkpoint_damage(folder / "step_20"), "");
  write(scratch / "file", "");
  try {
    CheckpointStore(scratch / "file" / "checkpoints").save(1, {}, {}, 2);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 74);
  }
}

TEST_F(Checkpoints, OneOfTheNewestStaysWholeWhicheverCallOfASaveFails) {
  for (const std::string_view name :
       {"close", "fdopendir", "fsync", "mkdir", "readdir", "rename", "unlinkat", "write"})
    for (int number = 1, calls = number; number <= calls; ++number) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(number));
      bool failed = false;
      {
        FailingCalls failing(name, ENOSPC, number);
        try {
          save(30);
        } catch (const Error& error) {
          failed = true;
          EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
          EXPECT_THAT(error.what(), testing::EndsWith(": No space left on device"));
        }
        calls = failing.calls();
      }
      store.remove_leftovers();  // as the next start does
      const auto found = store.newest();
      ASSERT_TRUE(found.has_value());
      EXPECT_TRUE(found->step == 30 || (found->step == 20 && failed)) << found->step;
      store.resume_from(*found);
      EXPECT_THAT(names(), testing::Not(testing::Contains(HasSubstr("tmp"))));
      fs::remove_all(folder);
      SetUp();
    }
}

TEST_F(Checkpoints, OneThatCannotBeReadIsNotReplacedByAnOlderOne) {
  const std::string newest = scratch.path("checkpoints/step_20");
  for (const auto& [name, sentence] : {std::pair("read", "cannot read " + newest + "/manifest.json"),
                                       {"fstat", "cannot examine " + newest + "/manifest.json"}}) {
    const FailingCalls failing(name, EIO);
    EXPECT_EQ(error_of(ErrorKind::io, [&] { store.newest(); }),
              sentence + ": Input/output error; move " + newest + " elsewhere to use an older checkpoint");
  }
  fs::remove_all(folder / "step_10");
  const FailingCalls failing("read", EIO);
  EXPECT_EQ(error_of(ErrorKind::io, [&] { store.newest(); }),
            "cannot read " + newest + "/manifest.json: Input/output error");
}

TEST_F(Checkpoints, ADamagedOneThatCannotBeSetAsideIsAnError) {
  write(folder / "step_20" / "model.safetensors", "");
  const auto found = store.newest();
  const FailingCalls failing("rename", EROFS);
  EXPECT_EQ(error_of(ErrorKind::io, [&] { store.resume_from(*found); }),
            "cannot rename " + scratch.path("checkpoints/step_20") + ": Read-only file system");
}

TEST_F(Checkpoints, OtherNamesAreNone) {
  for (const char* name : {"saved30", "model31", "step_", "step_-5", "step_30x", "step_30.1.2", "step_30.-1"})
    fs::create_directory(folder / name);
  write(folder / "n", "mine");
  EXPECT_EQ(store.newest()->step, 20);
  store.resume_from(*store.newest());
  save(40, 1);
  EXPECT_THAT(names(), testing::UnorderedElementsAre("latest", "model31", "n", "saved30", "step_", "step_-5",
                                                     "step_30.-1", "step_30.1.2", "step_30x", "step_40"));
  EXPECT_TRUE(CheckpointStore(scratch.path()).empty());
  EXPECT_FALSE(store.empty());
}

TEST_F(Checkpoints, AreOrderedByTheirNumbers) {
  for (int again = 0; again < 11; ++again) save(20, 20);
  EXPECT_EQ(store.newest()->folder.filename(), "step_20.11");
  save(9, 20);
  EXPECT_EQ(store.newest()->step, 20);
  save(100, 3);
  EXPECT_THAT(names(), testing::UnorderedElementsAre("latest", "step_100", "step_20.10", "step_20.11"));
}

TEST_F(Checkpoints, SetAsideAgainUnderAnotherNumber) {
  for (int again = 0; again < 3; ++again) {
    write(folder / "step_20" / "empty", "not empty");
    store.resume_from(*store.newest());
    save(20);
  }
  EXPECT_THAT(names(), testing::ElementsAre("latest", "step_10", "step_20", "step_20.damaged",
                                            "step_20.damaged2", "step_20.damaged3"));
}

}  // namespace
}  // namespace modewise::train
