#pragma once
// Downstream tasks of language models: questions from a JSONL file, formatted by templates of a TOML file:
// `choice` compares the likelihoods of options, `generate` scores generated answers.
//
//   name = "race_high"
//   kind = "choice"
//   data = "race_high.jsonl"                   # next to the TOML file, or in --task-data FOLDER
//   context = "{article}\nQuestion: {question}\nAnswer:"
//   choices = ["{options}"]                    # a list in the object gives one option per element
//   answer = "{answer}"
//   answer_kind = "letter"                     # number (from 0) | one (from 1) | letter | text
//
// {field} is a field of the object, {a.b} and {a.0} are nested, {field|filter|…} filters its text: strip,
// lower, capitalize, spaces (for underscores), before:TEXT, after:TEXT (split at the first TEXT), bracketless
// (HellaSwag's clean-up). {{ and }} are braces.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::tasks {

struct QuestionTask {
  std::string name, kind = "choice", data;
  std::string context;                       // before the option, or the prompt
  std::vector<std::string> context_filters;  // of the whole context
  std::vector<std::string> contexts;   // one per option if they differ (WinoGrande); then context is empty
  std::vector<std::string> choices;    // options; a single one if contexts differ
  std::string separator = " ";         // between context and option
  std::string answer = "{answer}";     // correct option or expected answer
  std::string answer_kind = "number";  // choice: number | one | letter | text
  std::vector<std::string> answers;    // generate: all correct answers; empty: `answer`
  std::vector<std::string> classes;    // for the metric classification
  std::string metric = "qa_f1";        // of generate
  int64_t new_tokens = 32;             // generate: maximum new tokens
  bool first_line = false;             // generate: only the first line counts
  std::vector<std::string> stop;       // generate: an answer ends before any of these texts
  std::string header;                  // template before the few-shot examples
  int64_t shots = 0;                   // few-shot examples per question: the first of `shot_data`
  std::string shot_data;               // JSONL; empty: the first of `data`, which are then not questions
  std::string shot_field;              // examples share this field with the question; empty: any example
  std::string shot_separator = "\n\n";

  void fields(Fields& f);
  void validate(const std::string& source) const;
};

struct ChoiceItem {
  std::vector<std::string> contexts, options;  // of equal length
  std::vector<int64_t> lengths;                // characters of each option, without the separator
  int64_t right = 0;
};

struct GenerateItem {
  std::string prompt;
  std::vector<std::string> answers, classes;
};

struct QuestionSet {
  QuestionTask task;
  std::vector<ChoiceItem> choices;      // for kind choice
  std::vector<GenerateItem> generated;  // for kind generate
};

/// The TOML files of tasks by name: a file, an installed task (share/modewise/questions) such as
/// longbench/trec, or all tasks of an installed folder, sorted: lm_eval, longbench. Installed tasks need
/// `data_folder`. Errors: no_input for an unknown name, usage for a missing folder.
std::vector<std::filesystem::path> question_task_files(const std::vector<std::string>& names,
                                                       const std::string& data_folder);

/// Reads a task and its data from `data_folder` ("": the task's folder), at most `limit` questions (0: all).
/// Errors name file and line: config for the TOML, data for a missing field, an answer that is not an option,
/// fewer than two options.
QuestionSet load_questions(const std::filesystem::path& file, const std::filesystem::path& data_folder = "",
                           int64_t limit = 0);

}  // namespace modewise::tasks
