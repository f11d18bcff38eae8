// Downstream tasks of a language model: options by likelihood, the installed tasks, examples, errors.

#include <ATen/TensorIndexing.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "modewise/core/error.h"
#include "modewise/tasks/language_modeling/question_scores.h"
#include "modewise/tasks/language_modeling/source.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

class QuestionFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static LanguageSource small_model() {
    models::LanguageModelConfig config;
    config.vocabulary = 257;
    config.width = 16;
    config.layers = 2;
    config.heads = 2;
    config.context = 16;
    config.attention.type = "full";
    return {"small", models::make_language_model(config, 3), text::load_tokenizer("bytes"), nullptr};
  }
  ScratchFolder folder_;
};

TEST_F(QuestionFiles, ChoicesAreComparedByTheLikelihoodOfTheirOwnTokens) {
  const LanguageSource source = small_model();
  const std::string data = write("q.jsonl", R"({"q": "a b", "options": ["x", "yes", "xy"], "answer": "B"})"
                                            "\n"
                                            R"({"q": "c", "options": ["no", "x y", "z"], "answer": "C"})"
                                            "\n");
  write("t.toml",
        "kind = \"choice\"\ndata = \"q.jsonl\"\ncontext = \"Q: {q}\"\nchoices = [\"{options}\"]\n"
        "answer_kind = \"letter\"\n");
  const QuestionSet set = load_questions(folder_ / "t.toml");
  ASSERT_EQ(set.choices.size(), 2u);
  EXPECT_EQ(set.choices[0].right, 1);
  EXPECT_EQ(set.choices[0].options[1], " yes");
  const at::NoGradGuard no_grad;
  for (const ChoiceItem& item : set.choices) {
    const ChoiceScore score = score_choice(*source.model, *source.tokenizer, item, 64);
    size_t best = 0, best_normalized = 0;
    std::vector<double> own;
    for (size_t i = 0; i < item.options.size(); ++i) {
      // Reference: one forward pass over the text, with the probabilities of the option's bytes.
      std::vector<int64_t> ids = {256};
      for (const char c : item.contexts[i] + item.options[i]) ids.push_back(static_cast<unsigned char>(c));
      const at::Tensor logs =
          at::log_softmax(source.model->forward(at::tensor(ids).unsqueeze(0)).select(0, 0), -1);
      double sum = 0;
      for (size_t t = ids.size() - item.options[i].size(); t < ids.size(); ++t)
        sum += logs.index({static_cast<int64_t>(t) - 1, ids[t]}).item<double>();
      EXPECT_NEAR(score.log_likelihoods[i], sum, 1e-4);
      own.push_back(sum);
      const auto per = [&](size_t k) { return own[k] / static_cast<double>(item.options[k].size() - 1); };
      if (own[i] > own[best]) best = i;
      if (per(i) > per(best_normalized)) best_normalized = i;
    }
    EXPECT_EQ(score.chosen, static_cast<int64_t>(best));
    EXPECT_EQ(score.chosen_normalized, static_cast<int64_t>(best_normalized));
  }
  const auto json = score_questions(*source.model, source.tokenizer, set, 64);
  EXPECT_EQ(json["questions"], 2);
}

TEST_F(QuestionFiles, InstalledTasksReadTheirLayouts) {
  write(
      "hellaswag_val.jsonl",
      R"({"activity_label": "Roof", "ctx_a": "A man [x] sits.", "ctx_b": "he", "endings": ["is [title] a", "b"], "label": "1"}
{"activity_label": "Home", "ctx_a": "[header] How to wash [title] Take water. [step] Use it.", "ctx_b": "", "endings": ["a", "b"], "label": "0"})");
  write("piqa_valid.jsonl", R"({"goal": "open", "sol1": "push", "sol2": "pull", "label": 0})");
  write("winogrande_dev.jsonl",
        R"({"sentence": "Ann met Bo since _ was late.", "option1": "Ann", "option2": "Bo", "answer": "2"})");
  for (const char* school : {"middle", "high"})
    write(fmt::format("race_{}.jsonl", school),
          R"({"article": "T", "question": "W?", "options": ["a", "b", "c", "d"], "answer": "D"})");
  write(
      "siqa_dev.jsonl",
      R"({"context": "C.", "question": "W?", "answerA": "a", "answerB": "b", "answerC": "c", "label": "3"})");
  write("NQ-open.dev.jsonl", R"({"question": "who", "answer": ["x", "y"]})");
  write("triviaqa_dev.jsonl", R"({"question": "who", "answer": {"value": "X", "aliases": ["x", "y"]}})");
  std::string shots, questions;
  for (int i = 0; i < 6; ++i)
    for (const char* subject : {"anatomy", "abstract_algebra"})
      shots += fmt::format(
          R"({{"question": "{} {}", "choices": ["1", "2", "3", "4"], "answer": 2, "subject": "{}"}})"
          "\n",
          subject[1], i, subject);
  for (const char* subject : {"abstract_algebra", "anatomy", "abstract_algebra"})
    questions +=
        fmt::format(R"({{"question": "q ", "choices": ["1", "2", "3", "4"], "answer": 3, "subject": "{}"}})"
                    "\n",
                    subject);
  write("mmlu_dev.jsonl", shots);
  write("mmlu_test.jsonl", questions);
  write("trec.jsonl",
        R"({"input": "Q", "context": "C", "answers": ["City"], "all_classes": ["City", "Food"]})");
  for (const char* name : {"2wikimqa", "gov_report", "hotpotqa", "qmsum", "samsum", "triviaqa"})
    write(fmt::format("{}.jsonl", name),
          R"({"input": "Q", "context": "C", "answers": ["x", "y"], "all_classes": null})");
  const std::string data = folder_.path();
  const auto load = [&](const std::string& name) {
    return load_questions(question_task_files({name}, data).at(0), data);
  };
  const ChoiceItem hellaswag = load("lm_eval/hellaswag").choices.at(0);
  EXPECT_EQ(hellaswag.contexts[0], "Roof: A man sits. He");
  EXPECT_EQ(hellaswag.options[0], " is. a");
  EXPECT_EQ(hellaswag.right, 1);
  // lm-eval's preprocess cleans the activity and both contexts as one text.
  EXPECT_EQ(load("lm_eval/hellaswag").choices.at(1).contexts[0], "Home: How to wash. Take water. Use it.");
  EXPECT_EQ(load("lm_eval/piqa").choices.at(0).options[1], " pull");
  const ChoiceItem winogrande = load("lm_eval/winogrande").choices.at(0);
  EXPECT_EQ(winogrande.contexts[1], "Ann met Bo since Bo");
  EXPECT_EQ(winogrande.options[1], " was late.");
  EXPECT_EQ(winogrande.right, 1);
  for (const char* name : {"lm_eval/race_middle", "lm_eval/race_high"})
    EXPECT_EQ(load(name).choices.at(0).right, 3) << name;
  const ChoiceItem siqa = load("lm_eval/siqa").choices.at(0);
  EXPECT_EQ(siqa.contexts[0] + siqa.options[1], "Q: C. W?\nA: b");
  EXPECT_EQ(siqa.right, 2);
  // As in lm-eval: a line with the subject, its first five dev examples, the question.
  const auto mmlu_context = [](const std::string& subject, char letter) {
    const std::string options = "\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:";
    std::string text =
        "The following are multiple choice questions (with answers) about " + subject + ".\n\n";
    for (int i = 0; i < 5; ++i) text += fmt::format("{} {}{} C\n\n", letter, i, options);
    return text + "q" + options;
  };
  const std::vector<ChoiceItem> mmlu = load("lm_eval/mmlu").choices;
  ASSERT_EQ(mmlu.size(), 3u);
  EXPECT_EQ(mmlu[0].contexts, std::vector<std::string>(4, mmlu_context("abstract algebra", 'b')));
  EXPECT_EQ(mmlu[1].contexts, std::vector<std::string>(4, mmlu_context("anatomy", 'n')));
  EXPECT_EQ(mmlu[2].contexts, mmlu[0].contexts);
  EXPECT_EQ(load("longbench/trec").generated.at(0).classes, (std::vector<std::string>{"City", "Food"}));
  // Begin and end of the prompt; metric, new tokens and what ends an answer: LongBench's eval.py, pred.py and
  // dataset2maxlen.json, lm-eval's tasks.
  const std::string wiki = "Question: Q\nAnswer:", report = "Now, write a one-page summary of the report.";
  for (const auto& [name, begin, end, metric, tokens, first_line, stop] :
       std::vector<std::tuple<std::string, std::string, std::string, std::string, int64_t, bool, size_t>>{
           {"lm_eval/nq_open", "Answer these questions:\n\n", "Q: who?\nA:", "exact", 256, false, 3},
           {"lm_eval/triviaqa", "", "Question: who?\nAnswer:", "exact", 256, false, 3},
           {"longbench/2wikimqa", "Answer the question based on", wiki, "qa_f1", 32, false, 0},
           {"longbench/hotpotqa", "Answer the question based on", wiki, "qa_f1", 32, false, 0},
           {"longbench/gov_report", "You are given a report", report + "\n\nSummary:", "rouge_l", 512, false,
            0},
           {"longbench/qmsum", "You are given a meeting", "Query: Q\nAnswer:", "rouge_l", 512, false, 0},
           {"longbench/triviaqa", "Answer the question based on", "\n\nC\n\nQ", "qa_f1", 32, true, 0},
           {"longbench/samsum", "Summarize the dialogue", "\n\nC\n\nQ", "rouge_l", 128, true, 0}}) {
    SCOPED_TRACE(name);
    const QuestionSet set = load(name);
    const GenerateItem& item = set.generated.at(0);
    EXPECT_EQ(item.answers, (std::vector<std::string>{"x", "y"}));
    EXPECT_THAT(item.prompt, testing::StartsWith(begin));
    EXPECT_THAT(item.prompt, testing::EndsWith(end));
    EXPECT_EQ(set.task.metric, metric);
    EXPECT_EQ(set.task.new_tokens, tokens);
    EXPECT_EQ(set.task.first_line, first_line);
    EXPECT_EQ(set.task.stop.size(), stop);
  }
}

TEST_F(QuestionFiles, AGroupOfInstalledTasksIsThePapersTable) {
  const auto names = [&](const std::string& name) {
    std::vector<std::string> all;
    for (const fs::path& file : question_task_files({name}, "data")) all.push_back(file.stem());
    return all;
  };
  EXPECT_THAT(names("lm_eval"), testing::ElementsAre("hellaswag", "mmlu", "nq_open", "piqa", "race_high",
                                                     "race_middle", "siqa", "triviaqa", "winogrande"));
  EXPECT_THAT(names("longbench"), testing::ElementsAre("2wikimqa", "gov_report", "hotpotqa", "qmsum",
                                                       "samsum", "trec", "triviaqa"));
  EXPECT_THAT(error_of(ErrorKind::no_input, [&] { names("longbench/trek"); }),
              testing::StartsWith("--tasks longbench/trek: there is no such file, and no installed task of "
                                  "this name (did you mean 'longbench/trec'?); installed are lm_eval, "));
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { question_task_files({"longbench"}, ""); }),
            "--task-data FOLDER is missing: the folder of the JSONL files of longbench");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { names(std::string(300, 'x')); }).substr(0, 12),
            "--tasks xxxx");
}

TEST_F(QuestionFiles, ATaskNamesItsData) {
  const std::string file = write("t.toml", "kind = \"generate\"\ncontext = \"{q}\"\n");
  EXPECT_EQ(error_of(ErrorKind::config, [&] { load_questions(file); }), file + ": data must be a JSONL file");
}

TEST_F(QuestionFiles, AnAnswerEndsBeforeAStopText) {
  const LanguageSource source = small_model();
  write("q.jsonl", R"({"q": "a b", "a": "x"})");
  const std::string task = "kind = \"generate\"\ndata = \"q.jsonl\"\ncontext = \"{q}\"\nanswer = \"{a}\"\n";
  const auto answer = [&](const std::string& more) {
    write("t.toml", task + more);
    const auto json =
        score_questions(*source.model, source.tokenizer, load_questions(folder_ / "t.toml"), 64);
    EXPECT_GE(json["seconds"], 0);
    return json["answers"][0]["text"].get<std::string>();
  };
  const std::string whole = answer("");
  ASSERT_GE(whole.size(), 2u);
  const size_t last = whole.size() - 1;
  const std::string stop =
      nlohmann::json(whole.substr(last)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  EXPECT_EQ(answer("stop = [" + stop + "]"), whole.substr(0, whole.find(whole[last])));
}

// Without a file of examples the first questions of each group are the examples and are not scored.
TEST_F(QuestionFiles, ExamplesOfAGroupMayBeItsFirstQuestions) {
  std::string lines;
  for (const char* one : {"x1", "y1", "x2", "y2", "x3", "y3"})
    lines += fmt::format(R"({{"q": "{}", "kind": "{}", "answer": "!"}})"
                         "\n",
                         one, one[0]);
  write("q.jsonl", lines);
  write("t.toml",
        "kind = \"generate\"\ndata = \"q.jsonl\"\ncontext = \"{q}\"\nshots = 2\nshot_field = \"kind\"\n"
        "shot_separator = \"/\"\nheader = \"{kind}: \"\n");
  const QuestionSet set = load_questions(folder_ / "t.toml");
  ASSERT_EQ(set.generated.size(), 2u);
  EXPECT_EQ(set.generated[0].prompt, "x: x1 !/x2 !/x3");
  EXPECT_EQ(set.generated[1].prompt, "y: y1 !/y2 !/y3");
}

TEST_F(QuestionFiles, SaysWhatIsWrongWithATask) {
  write("q.jsonl", "{\"a\": 1}\n");
  const auto wrong = [&](const std::string& toml, const std::string& part) {
    write("t.toml", "data = \"q.jsonl\"\n" + toml);
    try {
      load_questions(folder_ / "t.toml");
      ADD_FAILURE() << toml;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  wrong("context = \"{b}\"\nchoices = [\"x\", \"y\"]", "q.jsonl:1: the object has no field 'b'");
  wrong("context = \"{a\"\nchoices = [\"x\", \"y\"]", "brace");
  wrong("context = \"{a|upper}\"\nchoices = [\"x\", \"y\"]", "no filter 'upper'");
  wrong("context = \"{a}\"\nchoices = [\"x\"]", "two options");
  wrong("context = \"{a}\"\nchoices = [\"x\", \"y\"]\nanswer = \"{a}\"\nanswer_kind = \"letter\"",
        "is not one of 2 options");
  wrong("context = \"{a}\"\nkind = \"generate\"\nmetric = \"classification\"", "needs classes");
  wrong("context = \"{a}\"\nchoices = [\"x\", \"y\"]\nstop = [\".\"]",
        "stop has no effect with kind = \"choice\"");
  wrong("contxt = \"{a}\"", "context");
  wrong("context = \"{a}\"\nkind = \"generate\"\nanswer = \"{a}\"\nshot_field = \"a\"",
        "shot_field has no effect");
  wrong("context = \"{a}\"\nkind = \"generate\"\nanswer = \"{a}\"\nshots = 1",
        "q.jsonl: every question is an example (shots = 1), no question is left");
  write("q.jsonl", "{\"a\": [1]}\n{\"a\": []}\n");
  wrong("context = \"Q\"\nkind = \"generate\"\nanswers = [\"{a}\"]",
        "q.jsonl:2: the question has no answer: its list is empty");
  write("q.jsonl", "{\"a\": 1}\n");
  write("dev.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
  const std::string shots =
      "context = \"{a}\"\nkind = \"generate\"\nanswer = \"{a}\"\nshot_data = \"dev.jsonl\"\n";
  wrong(shots + "shots = 3",
        "3 examples are needed, but " + (folder_ / "dev.jsonl").string() + " has 2 (shots in ");
  wrong(shots + "shots = 2\nshot_field = \"a\"", "q.jsonl:1: 2 examples with a = \"1\" are needed, but " +
                                                     (folder_ / "dev.jsonl").string() + " has 1 ");
}

TEST_F(QuestionFiles, MiddleTruncationKeepsBothEnds) {
  const auto tokenizer = text::load_tokenizer("bytes");
  EXPECT_EQ(truncate_middle(*tokenizer, "0123456789", 10), "0123456789");
  EXPECT_EQ(truncate_middle(*tokenizer, "0123456789", 5), "0189");
}

}  // namespace
}  // namespace modewise::tasks
