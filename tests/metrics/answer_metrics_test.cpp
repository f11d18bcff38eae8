// Answer metrics against the Python packages that LongBench uses (vectors/make_answer_vectors.py).

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/metrics/answer_metrics.h"
#include "tests/error_of.h"

namespace modewise::metrics {
namespace {

const nlohmann::json& answers() {
  static const auto json =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/metrics/vectors/answers.json"));
  return json;
}

struct Case {
  std::string prediction, answer;
  explicit Case(const nlohmann::json& json) : prediction(json["prediction"]), answer(json["answer"]) {}
};

TEST(AnswerMetrics, WordsAsLongBench) {
  for (const auto& json : answers()["pairs"]) {
    const Case one(json);
    EXPECT_DOUBLE_EQ(qa_f1(one.prediction, one.answer), json["qa_f1"].get<double>()) << json;
    EXPECT_DOUBLE_EQ(rouge_l(one.prediction, one.answer), json["rouge_l"].get<double>()) << json;
  }
}

TEST(AnswerMetrics, ArticlesAreWholeWordsOfAnyAlphabet) {
  // As of Python's \b(a|an|the)\b: é is a letter, « is none.
  EXPECT_DOUBLE_EQ(qa_f1("éa", "é"), 0);
  EXPECT_DOUBLE_EQ(qa_f1("théthe", "thé"), 0);
  EXPECT_DOUBLE_EQ(qa_f1("«a»", "« »"), 1);
  EXPECT_DOUBLE_EQ(qa_f1("the é", "é"), 1);
}

TEST(AnswerMetrics, ClassesAndNumbersAsLongBench) {
  const auto classes = answers()["classes"].get<std::vector<std::string>>();
  for (const auto& json : answers()["classification"]) {
    const Case one(json);
    EXPECT_DOUBLE_EQ(classification_score(one.prediction, one.answer, classes), json["score"].get<double>())
        << json;
  }
  for (const auto& json : answers()["count"])
    EXPECT_DOUBLE_EQ(count_score(Case(json).prediction, Case(json).answer), json["score"].get<double>())
        << json;
  for (const auto& json : answers()["retrieval"])
    EXPECT_DOUBLE_EQ(retrieval_score(Case(json).prediction, Case(json).answer), json["score"].get<double>())
        << json;
  EXPECT_EQ(retrieval_score("It is 12.", "Paragraph of 3, Paragraph 12: it"), 1);
  EXPECT_EQ(error_of(ErrorKind::data, [&] { retrieval_score("1", "Paragraph one"); }),
            "a retrieval answer must contain 'Paragraph NUMBER', got 'Paragraph one'");
}

TEST(AnswerMetrics, CodeAsDifflib) {
  for (const auto& json : answers()["code_sim"]) {
    const Case one(json);
    EXPECT_DOUBLE_EQ(difflib_ratio(code_points(one.prediction), code_points(one.answer)),
                     json["ratio"].get<double>());
    EXPECT_DOUBLE_EQ(code_similarity(one.prediction, one.answer), json["score"].get<double>());
  }
}

TEST(AnswerMetrics, TheBestAnswerCounts) {
  EXPECT_DOUBLE_EQ(answer_score("exact", "The Cat!", {"dog", "cat"}, {}), 1);
  EXPECT_DOUBLE_EQ(answer_score("qa_f1", "a dog", {"cat", "dog house"}, {}), 2.0 / 3);
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { answer_score("qa_f2", "a", {"b"}, {}); }),
            "unknown metric 'qa_f2' (expected qa_f1, rouge_l, classification, count, retrieval, "
            "code_sim, exact) (did you mean 'qa_f1'?)");
}

}  // namespace
}  // namespace modewise::metrics
