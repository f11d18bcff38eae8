// Claims of another process are simulated by writing its claim file.

#include "modewise/core/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/file_lock.h"
#include "modewise/core/folder.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise {
namespace {

using std::chrono::milliseconds;

void expect_error(ErrorKind kind, const std::string& message, const std::function<void()>& call) {
  EXPECT_EQ(error_of(kind, call), message);
}

/// This machine with a clock that the test sets.
struct ClockSystem : LocalSystem {
  Clock::time_point now() override { return time; }
  void write(const Path& file, std::string_view text) override {
    require(!full, ErrorKind::io, "cannot write {}: No space left on device", file.string());
    LocalSystem::write(file, text);
  }
  Clock::time_point time = Clock::now();
  bool full = false;
};

class ClaimTest : public testing::Test {
 protected:
  ~ClaimTest() override { ::unsetenv(kClaimVariable); }

  nlohmann::json content() const { return nlohmann::json::parse(read_file(folder / "claims/work.json")); }
  /// The claims of the folder with a clock that the test sets.
  Claims claims_by_clock(milliseconds lease) { return Claims(folder / "claims", lease, system); }
  /// Writes a claim of another machine.
  void write_elsewhere(int64_t heartbeats, const std::string& token = "theirs") const {
    const nlohmann::json json = {{"token", token},  {"host", "far"}, {"machine", "another"},
                                 {"process", 4711}, {"start", "1"},  {"beats", heartbeats}};
    folder.write("claims/work.json", json.dump());
  }

  ScratchFolder folder;
  ClockSystem system;
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
  Claims claims = claims_by_clock(milliseconds(150));
  write_elsewhere(1);
  EXPECT_EQ(claims.take("work"), nullptr);
  EXPECT_EQ(claims.owner("work"), "far, process 4711");
  system.time += milliseconds(149);
  EXPECT_EQ(claims.take("work"), nullptr);
  write_elsewhere(2);  // a heartbeat: the timeout restarts when it is observed
  system.time += milliseconds(100);
  EXPECT_EQ(claims.take("work"), nullptr);
  system.time += milliseconds(149);
  EXPECT_EQ(claims.take("work"), nullptr);
  system.time += milliseconds(1);
  const auto claim = claims.take("work");
  ASSERT_NE(claim, nullptr);
  EXPECT_TRUE(claim->taken_over());
}

TEST_F(ClaimTest, AHeartbeatRewritesTheFileAndFindsWhenAnotherHasTakenOver) {
  Claims claims(folder / "claims", milliseconds(60'000));
  auto claim = claims.take("work");
  EXPECT_EQ(content()["beats"], 0);
  EXPECT_TRUE(claim->heartbeat());
  EXPECT_TRUE(claim->heartbeat());
  EXPECT_EQ(content()["beats"], 2);
  write_elsewhere(7);
  EXPECT_FALSE(claim->heartbeat());
  EXPECT_EQ(content()["beats"], 7);  // their claim is unchanged
  claim.reset();
  EXPECT_EQ(content()["token"], "theirs");
}

TEST_F(ClaimTest, AProcessOfThisMachineThatHasEndedIsDeadAtOnce) {
  const pid_t child = ::fork();
  if (child == 0) {
    Claims(folder / "claims", milliseconds(60'000)).take("work").release();  // never released
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
    Claims claims = claims_by_clock(milliseconds(50));
    folder.write("claims/work.json", text);
    EXPECT_EQ(claims.take("work"), nullptr) << text;
    EXPECT_EQ(claims.owner("work"), "unknown, process 0") << text;
    system.time += milliseconds(49);
    EXPECT_EQ(claims.take("work"), nullptr) << text;
    system.time += milliseconds(1);
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

TEST_F(ClaimTest, AHeartbeatThatCannotBeWrittenIsAnErrorAndTheNextOneIsWritten) {
  Claims claims(folder / "claims", milliseconds(60'000));
  auto claim = claims.take("work");
  const std::filesystem::path lock = folder / "claims/lock", file = folder / "claims/work.json";
  std::filesystem::remove(lock);
  std::filesystem::create_directory(lock);
  expect_error(ErrorKind::cannot_create, "cannot create " + lock.string() + ": Is a directory",
               [&] { claim->heartbeat(); });
  std::filesystem::remove(lock);
  std::filesystem::rename(file, folder / "aside");
  std::filesystem::create_directory(file);
  expect_error(ErrorKind::no_input, file.string() + " is a folder, not a file", [&] { claim->heartbeat(); });
  std::filesystem::remove(file);
  std::filesystem::rename(folder / "aside", file);
  EXPECT_EQ(content()["beats"], 0);
  EXPECT_TRUE(claim->heartbeat());
  std::filesystem::remove(file);
  EXPECT_FALSE(claim->heartbeat());  // released: another may take it
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ClaimTest, AClaimThatCannotBeWrittenIsAnErrorAndNotHeld) {
  Claims claims = claims_by_clock(milliseconds(60'000));
  system.full = true;
  expect_error(ErrorKind::io,
               "cannot write " + (folder / "claims/work.json").string() + ": No space left on device",
               [&] { claims.take("work"); });
  system.full = false;
  EXPECT_NE(claims.take("work"), nullptr);
}

TEST_F(ClaimTest, WorkUnderATicketAsksWhetherItIsStillItsOwn) {
  require_own_claim();  // no ticket: no check
  Claims claims(folder / "claims", milliseconds(60'000));
  auto claim = claims.take("work");
  ::setenv(kClaimVariable, claim->ticket().c_str(), 1);
  require_own_claim();
  claim->heartbeat();
  require_own_claim();
  const std::string file = (folder / "claims/work.json").string();
  write_elsewhere(1);
  expect_error(ErrorKind::cannot_create,
               "this work was taken over by another process after a missed heartbeat: the claim " + file +
                   " has another owner, so nothing is saved",
               require_own_claim);
  std::filesystem::remove(file);
  expect_error(ErrorKind::cannot_create,
               "the claim on this work was released by the program that started it: " + file +
                   " does not exist, so nothing is saved",
               require_own_claim);
  std::filesystem::create_directory(file);  // cannot be read
  expect_error(ErrorKind::no_input, file + " is a folder, not a file", require_own_claim);
  ::setenv(kClaimVariable, "nothing", 1);
  expect_error(ErrorKind::usage, "MODEWISE_CLAIM must be \"TOKEN FILE\", got \"nothing\"", require_own_claim);
}

TEST_F(ClaimTest, NothingIsWrittenUnderAClaimThatIsLost) {
  Claims claims(folder / "claims", milliseconds(60'000));
  const auto claim = claims.take("work");
  ::setenv(kClaimVariable, claim->ticket().c_str(), 1);
  const std::string file = folder.write("run/metrics.json", "old");
  write_file_atomically(file, "ours");
  write_elsewhere(1);
  const std::string lost =
      "this work was taken over by another process after a missed heartbeat: the claim " +
      (folder / "claims/work.json").string() + " has another owner, so nothing is saved";
  expect_error(ErrorKind::cannot_create, lost, [&] { write_file_atomically(file, "theirs"); });
  expect_error(ErrorKind::cannot_create, lost,
               [&] { write_file_synced(folder / "run/new.json", as_bytes("theirs")); });
  EXPECT_EQ(read_file(file), "ours");
  EXPECT_THAT(entries_of(folder / "run"), testing::ElementsAre(std::filesystem::path(file)));
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
  const std::string none = (folder / "none").string();
  expect_error(ErrorKind::cannot_create, "cannot create " + none + "/lock: No such file or directory",
               [&] { FileLock::of_file(none + "/lock", Mode::attempt); });
  expect_error(ErrorKind::no_input, "cannot open folder " + none + ": No such file or directory",
               [&] { FileLock::of_folder(none, Mode::attempt); });
  EXPECT_FALSE(std::filesystem::exists(none));
}

TEST(FileLock, OfAFolderGoesWithItsHolder) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / ".lock";
  {
    const FileLock held = FileLock::of_folder(folder.path(), FileLock::Mode::attempt);
    EXPECT_TRUE(std::filesystem::exists(file));
    const FileLock second = FileLock::of_folder(folder.path(), FileLock::Mode::attempt);
    EXPECT_EQ(second.state(), FileLock::State::taken);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  folder.write(".lock", "");  // of a killed holder
  EXPECT_EQ(FileLock::of_folder(folder.path(), FileLock::Mode::attempt).state(), FileLock::State::held);
  EXPECT_FALSE(std::filesystem::exists(file));
}

// A process that opened the file before its holder removed it must not treat its lock as one on the folder.
TEST(FileLock, OfAFolderIsHeldByOneOfManyThatComeAndGo) {
  const ScratchFolder folder;
  std::atomic<int> inside = 0, maximum = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          const FileLock lock = FileLock::of_folder(folder.path(), FileLock::Mode::wait);
          const int here = ++inside;
          if (here > maximum) maximum = here;
          std::this_thread::yield();
          --inside;
        }
      });
  }
  EXPECT_EQ(maximum, 1);
}

}  // namespace
}  // namespace modewise
