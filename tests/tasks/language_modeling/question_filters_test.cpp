#include "modewise/tasks/language_modeling/question_task.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scratch_folder.h"

namespace modewise::tasks {
namespace {

/// `text` after the filter bracketless.
std::string cleaned(const std::string& text) {
  const ScratchFolder folder;
  folder.write("data.jsonl", nlohmann::json{{"text", text}, {"answer", "a"}}.dump() + "\n");
  const std::string task = folder.write(
      "task.toml", "kind = \"generate\"\ndata = \"data.jsonl\"\ncontext = \"{text|bracketless}\"\n");
  return load_questions(task).generated.front().prompt;
}

TEST(Bracketless, CleansAsLmEval) {
  // text.strip().replace(" [title]", ". "), re.sub("\\[.*?\\]", "", text), text.replace("  ", " ")
  EXPECT_EQ(cleaned(" Pets [title]How to [step] wash [[a]] a dog  now [open "),
            "Pets. How to wash ] a dog now [open");
  EXPECT_EQ(cleaned("a    b   c"), "a  b  c");
  EXPECT_EQ(cleaned("[a][b]]["), "][");
  EXPECT_EQ(cleaned("x [title] [title]"), "x. . ");
}

TEST(Bracketless, TakesWorkByTheLengthOfTheText) {
  // A pass over the remaining text for each bracket would move 10¹³ bytes.
  std::string text = "a";
  for (int64_t i = 0; i < 2'000'000; ++i) text += "[b]";
  EXPECT_EQ(cleaned(text + "c"), "ac");
}

}  // namespace
}  // namespace modewise::tasks
