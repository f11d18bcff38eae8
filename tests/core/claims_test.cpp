// Claims of one process on the files of another are made by writing the file that the other would.

#include "modewise/core/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/file_lock.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise {
namespace {

using std::chrono::milliseconds;

class ClaimTest : public testing::Test {
 protected:
  ~ClaimTest() override { ::unsetenv(kClaimVariable); }

  nlohmann::json content() const { return nlohmann::json::parse(read_file(folder / "claims/work.json")); }
  /// A claim of a machine that is not this one.
  void write_elsewhere(int64_t beats, const std::string& token = "theirs") const {
    const nlohmann::json json = {{"token", token},  {"host", "far"}, {"machine", "another"},
                                 {"process", 4711}, {"start", "1"},  {"beats", beats}};
    folder.write("claims/work.json", json.dump());
  }

  ScratchFolder folder;
};

TEST_F(ClaimTest, OneOwnerAtATimeUntilItIsGivenBack) {
  Claims mine(folder / "claims", milliseconds(60'000)), theirs(folder / "claims", milliseconds(60'000));
  EXPECT_TRUE(mine.guarded());
  auto claim = mine.take("work");
  ASSERT_NE(claim, nullptr);
  EXPECT_FALSE(claim->taken_over());
  EXPECT_EQ(theirs.take("work"), nullptr);
  EXPECT_THAT(theirs.owner("work"), testing::EndsWith(", process " + std::to_string(::getpid())));
  EXPECT_NE(theirs.take("other work"), nullptr);
  claim.reset();
  EXPECT_FALSE(std::filesystem::exists(folder / "claims/work.json"));
  EXPECT_EQ(theirs.owner("work"), "");
  const auto after = theirs.take("work");
  ASSERT_NE(after, nullptr);
  EXPECT_FALSE(after->taken_over());
}

TEST_F(ClaimTest, ADeadOneIsTakenOverAfterItsLeaseByTheClockOfWhoLooks) {
  Claims claims(folder / "claims", milliseconds(150));
  write_elsewhere(1);
  EXPECT_EQ(claims.take("work"), nullptr);
  EXPECT_EQ(claims.owner("work"), "far, process 4711");
  std::this_thread::sleep_for(milliseconds(100));
  write_elsewhere(2);  // a heartbeat: the lease begins anew
  EXPECT_EQ(claims.take("work"), nullptr);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(claims.take("work"), nullptr);
  std::this_thread::sleep_for(milliseconds(100));
  const auto claim = claims.take("work");
  ASSERT_NE(claim, nullptr);
  EXPECT_TRUE(claim->taken_over());
}

TEST_F(ClaimTest, AHeartbeatRewritesTheFileAndFindsWhenAnotherHasTakenOver) {
  Claims claims(folder / "claims", milliseconds(60'000));
  auto claim = claims.take("work");
  EXPECT_EQ(content()["beats"], 0);
  EXPECT_TRUE(claim->beat());
  EXPECT_TRUE(claim->beat());
  EXPECT_EQ(content()["beats"], 2);
  write_elsewhere(7);
  EXPECT_FALSE(claim->beat());
  EXPECT_EQ(content()["beats"], 7);  // it is theirs: left alone
  claim.reset();
  EXPECT_EQ(content()["token"], "theirs");
}

TEST_F(ClaimTest, AProcessOfThisMachineThatHasEndedIsDeadAtOnce) {
  const pid_t child = ::fork();
  if (child == 0) {
    Claims(folder / "claims", milliseconds(60'000)).take("work").release();  // never given back
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_EQ(content()["process"], child);
  Claims claims(folder / "claims", milliseconds(60'000));
  const auto claim = claims.take("work");
  ASSERT_NE(claim, nullptr);
  EXPECT_TRUE(claim->taken_over());
}

TEST_F(ClaimTest, ANumberThatAnotherProcessHasGotIsDead) {
  Claims claims(folder / "claims", milliseconds(60'000));
  claims.take("work").release();
  nlohmann::json json = content();
  folder.write("claims/work.json", json.dump());
  EXPECT_EQ(claims.take("work"), nullptr);  // ours, and alive
  json["start"] = "12";
  folder.write("claims/work.json", json.dump());
  EXPECT_NE(claims.take("work"), nullptr);
}

TEST_F(ClaimTest, ADamagedFileIsAClaimUntilItsLeaseEnds) {
  for (const std::string text : {"", "{", "[1]", R"({"token": 3, "process": "x"})", "\xff\xfe"}) {
    Claims claims(folder / "claims", milliseconds(50));
    folder.write("claims/work.json", text);
    EXPECT_EQ(claims.take("work"), nullptr) << text;
    EXPECT_EQ(claims.owner("work"), "unknown, process 0") << text;
    std::this_thread::sleep_for(milliseconds(80));
    EXPECT_NE(claims.take("work"), nullptr) << text;
  }
}

TEST_F(ClaimTest, OfManyThatTakeAtOnceOneGetsIt) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = "work" + std::to_string(round);
    std::atomic<int> owners = 0;
    std::vector<std::unique_ptr<Claim>> taken(8);
    {
      std::vector<std::jthread> threads;
      for (auto& claim : taken)
        threads.emplace_back([&] {
          claim = Claims(folder / "claims", milliseconds(60'000)).take(name);
          owners += claim != nullptr;
        });
    }
    EXPECT_EQ(owners, 1);
  }
}

TEST_F(ClaimTest, WorkUnderATicketAsksWhetherItIsStillItsOwn) {
  require_own_claim();  // no ticket: nothing to ask
  Claims claims(folder / "claims", milliseconds(60'000));
  auto claim = claims.take("work");
  ::setenv(kClaimVariable, claim->ticket().c_str(), 1);
  require_own_claim();
  claim->beat();
  require_own_claim();
  write_elsewhere(1);
  try {
    require_own_claim();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
    EXPECT_THAT(error.what(), testing::HasSubstr("taken over by another process"));
    EXPECT_THAT(error.what(), testing::HasSubstr((folder / "claims/work.json").string()));
  }
  std::filesystem::remove(folder / "claims/work.json");
  EXPECT_EQ(error_of(ErrorKind::cannot_create, [&] { require_own_claim(); }),
            "this work was taken over by another process, since its owner gave no sign of life: " +
                folder.path("claims/work.json") + " is no longer ours, so nothing is saved");
  ::setenv(kClaimVariable, "nothing", 1);
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { require_own_claim(); }),
            "MODEWISE_CLAIM must be \"TOKEN FILE\", got \"nothing\"");
}

TEST(FileLock, IsHeldByOneAndFreeAfterIt) {
  using Mode = FileLock::Mode;
  using State = FileLock::State;
  const ScratchFolder folder;
  const auto file_state = [&] { return FileLock::of_file(folder / "lock", Mode::attempt).state(); };
  const auto folder_state = [&] { return FileLock::of_folder(folder.path(), Mode::attempt).state(); };
  {
    const FileLock file = FileLock::of_file(folder / "lock", Mode::attempt);
    const FileLock whole = FileLock::of_folder(folder.path(), Mode::attempt);
    EXPECT_EQ(file.state(), State::held);
    EXPECT_EQ(whole.state(), State::held);
    EXPECT_EQ(file_state(), State::taken);
    EXPECT_EQ(folder_state(), State::taken);
  }
  EXPECT_EQ(file_state(), State::held);
  EXPECT_EQ(folder_state(), State::held);
  EXPECT_EQ(
      error_of(ErrorKind::cannot_create, [&] { FileLock::of_file(folder / "none/lock", Mode::attempt); }),
      "cannot create " + folder.path("none/lock") + ": No such file or directory");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { FileLock::of_folder(folder / "none", Mode::attempt); }),
            "cannot open folder " + folder.path("none") + ": No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

}  // namespace
}  // namespace modewise
