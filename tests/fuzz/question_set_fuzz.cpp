#include "modewise/tasks/language_modeling/question_task.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::io;

// A task of questions: the TOML file with its templates, NUL, the lines of questions.jsonl.
FUZZ_TARGET(question_set) {
  static const InputFolder folder;
  const TwoTexts input(input_text(data, size));
  const std::string task = folder.write("task.toml", input.first);
  folder.write("questions.jsonl", input.second);
  return survive(
      [&] {
        const tasks::QuestionSet set = tasks::load_questions(task, folder.path());
        for (const tasks::ChoiceItem& item : set.choices)
          expect(item.options.size() >= 2 && item.contexts.size() == item.options.size() && item.right >= 0 &&
                 item.right < std::ssize(item.options));
      },
      {ErrorKind::config, ErrorKind::data, ErrorKind::no_input});
}
