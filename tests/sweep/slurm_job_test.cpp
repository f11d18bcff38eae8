#include "modewise/sweep/slurm_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise::sweep {
namespace {

using testing::HasSubstr;

/// Stand-in for sbatch: runs the tasks of the array one after another, with the variable of Slurm's manual.
constexpr const char* kSbatch = R"(#!/bin/bash
if grep -q refuse "$1"; then echo "sbatch: error: invalid partition specified" >&2; exit 1; fi
last=$(sed -n 's/^#SBATCH --array=0-\([0-9]*\).*/\1/p' "$1")
for ((i = 0; i <= last; ++i)); do SLURM_ARRAY_TASK_ID=$i bash "$1" || exit 1; done
echo "Submitted batch job 12"
)";

class Slurm : public testing::Test {
 protected:
  Slurm() : path_(std::getenv("PATH")) {
    const std::string program = folder.write("bin/sbatch", kSbatch);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder.path("bin") + ":" + path_).c_str(), 1);
    // Writes each of its arguments as a line.
    const std::string worker =
        folder.write("it's a program", "#!/bin/bash\nprintf '%s\\n' \"$@\" >> \"$0.said\"\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    job = {"grid", folder.path().string(), {worker, "--set", "a=\"b c\"$x"}, {"one_s1", "two_s1"}, {}, 3, 0};
  }
  ~Slurm() override { ::setenv("PATH", path_.c_str(), 1); }

  std::string message() const {
    try {
      submit(job);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  ScratchFolder folder;
  SlurmJob job;

 private:
  std::string path_;
};

TEST_F(Slurm, AnArrayTaskIsOneRun) {
  EXPECT_EQ(submit(job), "Submitted batch job 12");
  EXPECT_EQ(read_file(folder / "it's a program.said"),
            "--set\na=\"b c\"$x\n--only\none_s1\n--set\na=\"b c\"$x\n--only\ntwo_s1\n");
}

TEST_F(Slurm, TheScriptSaysWhatARunNeeds) {
  job.at_once = 4;
  job.options = {"--partition=long", "--time=2:00:00"};
  const std::string script = slurm_script(job);
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=0-1%4\n#SBATCH --cpus-per-task=3\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --requeue\n#SBATCH --partition=long\n#SBATCH --time=2:00:00\n"));
  EXPECT_THAT(script, HasSubstr("/logs/slurm-%A_%a.log\"\n"));
}

TEST_F(Slurm, ErrorsAreSentences) {
  job.options = {"--comment=refuse"};
  EXPECT_THAT(message(), HasSubstr("slurm.sh: sbatch: error: invalid partition specified"));
  job.options = {"--comment=a\nrm -rf"};
  EXPECT_THAT(message(), HasSubstr("got a line break"));
  job.options.clear();
  job.runs.clear();
  EXPECT_EQ(message(), "grid has no unfinished runs to submit");
  job.runs = {"one_s1"};
  ::setenv("PATH", folder.path("none").c_str(), 1);
  EXPECT_THAT(message(), HasSubstr("sbatch is not in PATH"));
}

TEST_F(Slurm, RefusesFoldersAndNamesThatNoCommentLineHolds) {
  const std::string folder_before = job.folder;
  for (const char* part :
       {"/a\ntouch owned #", "/a\rb", "/a\"b", "/a\\b", "/a\x1b[2J", "/a\u202E", "/a\xff"}) {
    job.folder = folder_before + part;
    EXPECT_THAT(
        error_of(ErrorKind::usage, [&] { slurm_script(job); }),
        testing::EndsWith(": it has a control character, line break, quote or backslash; use another --out"));
  }
  job.folder = folder_before;
  job.name = "grid\ntouch owned #";
  try {
    slurm_script(job);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(error.what()),
              "the job 'grid\\x0atouch owned #' is not allowed in a Slurm script: it has a control "
              "character, line break, quote or backslash; use another --out");
  }
}

TEST_F(Slurm, QuotesFoldersThatItCanName) {
  job.folder = "/runs/it's $(touch owned) %j";
  EXPECT_THAT(slurm_script(job),
              HasSubstr("#SBATCH --output=\"/runs/it's $(touch owned) %%j/logs/slurm-%A_%a.log\"\n"));
}

TEST_F(Slurm, CommandsReachTheRunAsTheyAre) {
  const std::string hostile = "a\nb'c\\\x1b\u202E\xff $(touch owned) `touch owned`";
  job.command.back() = hostile;
  const std::string script = slurm_script(job);
  EXPECT_EQ(script.find('\x1b'), std::string::npos);
  EXPECT_EQ(script.find("\u202E"), std::string::npos);
  submit(job);
  EXPECT_EQ(read_file(folder / "it's a program.said"),
            "--set\n" + hostile + "\n--only\none_s1\n--set\n" + hostile + "\n--only\ntwo_s1\n");
}

TEST(BashWord, IsPlainWhereItCanBe) {
  EXPECT_EQ(bash_word("it's é"), "'it'\\''s é'");
  EXPECT_EQ(bash_word("a\n'é\\"), "$'a\\x0a\\x27\\xc3\\xa9\\x5c'");
}

TEST(ShellWord, IsReadBackByAShell) {
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace modewise::sweep
