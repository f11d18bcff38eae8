#pragma once
// A downstream task of a language model: questions from a JSONL file, put to the model as a TOML file says.
// Either `choice`, whose options are compared by their likelihoods, or `generate`, whose answers are scored.
//
//   name = "race"
//   kind = "choice"
//   data = "race.jsonl"                        # beside the TOML file, or in --task-data FOLDER
//   context = "{article}\nQuestion: {question}\nAnswer:"
//   choices = ["{options}"]                    # a list in the object gives an option an element
//   answer = "{answer}"
//   answer_kind = "letter"                     # number (from 0) | one (from 1) | letter | text
//
// {field} is a field of the object, {a.b} and {a.0} go into objects and lists, {field|filter|…} changes its
// text: strip, lower, capitalize, spaces (for underscores), before:TEXT, after:TEXT (parts at the first
// TEXT), bracketless (HellaSwag's clean-up). {{ and }} are braces.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::tasks {

struct QuestionTask {
  std::string name, kind = "choice", data;
  std::string context;                 // before the option, or the prompt
  std::vector<std::string> contexts;   // one an option, where they differ (WinoGrande); then context is empty
  std::vector<std::string> choices;    // options; one for all contexts where contexts differ
  std::string separator = " ";         // between context and option
  std::string answer = "{answer}";     // the right option, or the answer wanted
  std::string answer_kind = "number";  // of choice: number | one | letter | text
  std::vector<std::string> answers;    // of generate: all right answers; empty: `answer`
  std::vector<std::string> classes;    // of the metric classification
  std::string metric = "qa_f1";        // of generate
  int64_t new_tokens = 32;             // of generate: at most so many
  bool first_line = false;             // of generate: what stands behind the first line end is left out
  std::string header;                  // template, before the examples of a question
  int64_t shots = 0;                   // examples before each question: the first of `shot_data`
  std::string shot_data;               // JSONL; empty: those of `data`, which are then not asked
  std::string shot_field;              // examples share this field with the question; empty: any example
  std::string shot_separator = "\n\n";

  void fields(Fields& f);
  void validate(const std::string& source) const;
};

struct ChoiceItem {
  std::vector<std::string> contexts, options;  // as long as each other
  std::vector<int64_t> lengths;                // characters of each option, without the separator
  int64_t right = 0;
};

struct GenerateItem {
  std::string prompt;
  std::vector<std::string> answers, classes;
};

struct QuestionSet {
  QuestionTask task;
  std::vector<ChoiceItem> choices;      // of kind choice
  std::vector<GenerateItem> generated;  // of kind generate
};

/// Reads the task and its data; `data_folder` ("" for the task's own) holds the data, `limit` (0: all) the
/// number of questions. Errors name the file and line: config for the TOML, data for a field that an object
/// lacks, an answer that is no option, less than two options.
QuestionSet load_questions(const std::filesystem::path& file, const std::filesystem::path& data_folder = "",
                           int64_t limit = 0);

}  // namespace modewise::tasks
