// GLUE layouts, user tables and JSON lines, and their splits.

#include "modewise/data/text/text_set.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "modewise/data/text/text_files.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using Texts = std::vector<std::string>;

Texts texts(const io::TextCells& cells) {
  return {cells.begin(), cells.end()};
}

class TextSets : public testing::Test {
 protected:
  TextSet load(bool numbers = false, bool with_test = true) const {
    return load_texts(config_, numbers, with_test);
  }
  std::string refused(ErrorKind kind = ErrorKind::data, bool numbers = false) const {
    return error_of(kind, [&] { load(numbers); });
  }
  /// A GLUE folder with training and dev files; its path is the config's.
  void glue(const std::string& name, const std::string& train, const std::string& dev,
            const std::string& dev_file = "dev.tsv") {
    folder_.write(name + "/train.tsv", train);
    folder_.write(name + "/" + dev_file, dev);
    config_.path = folder_.path(name);
  }

  ScratchFolder folder_;
  TextDataConfig config_;
};

TEST_F(TextSets, ColaHasNoHeaderAndItsTestFileOne) {
  std::string train;
  for (int i = 0; i < 20; ++i)
    train += "gj04\t" + std::to_string(i % 2) + "\t*\tsentence \"" + std::to_string(i) + "\n";
  glue("CoLA", train, "ks08\t1\t\tJohn's been\tx\n");
  EXPECT_EQ(refused(), folder_.path("CoLA/dev.tsv") + ":1: 5 cells, but CoLA has 4 without a header");
  glue("CoLA", train, "ks08\t1\t\tJohn has been.\n");
  const TextSet set = load();
  EXPECT_EQ(set.layout, "cola");
  EXPECT_THAT(set.classes, ElementsAre("0", "1"));
  EXPECT_EQ(set.train.size(), 18U);
  EXPECT_EQ(set.validation.size(), 2U);
  EXPECT_EQ(set.class_counts(set.validation), (std::vector<int64_t>{1, 1}));
  ASSERT_EQ(set.test.size(), 1U);
  EXPECT_EQ(set.first[static_cast<size_t>(set.test[0])], "John has been.");
  EXPECT_EQ(set.labels[static_cast<size_t>(set.test[0])], 1);
  folder_.write("CoLA/test.tsv", "index\tsentence\n0\tBill left.\n1\tLeft Bill.\n");
  const TextSet asked = load_texts_for(folder_.path("CoLA/test.tsv"), config_, {{"0", "1"}, false});
  EXPECT_EQ(texts(asked.first), (Texts{"Bill left.", "Left Bill."}));
  EXPECT_THAT(asked.labels, ElementsAre(-1, -1));
}

TEST_F(TextSets, EveryLayoutFindsItsTextsAndLabelsByName) {
  struct Case {
    std::string folder, header, row, first, second, label;
  };
  for (const Case& one : std::vector<Case>{
           {"SST-2", "sentence\tlabel", "fine \t1", "fine ", "", "1"},
           {"MRPC", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", "0\t7\t8\tA \"b\tC", "A \"b", "C", "0"},
           {"QQP", "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "1\t2\t3\tA?\tB?\t1", "A?", "B?",
            "1"},
           {"QNLI", "index\tquestion\tsentence\tlabel", "0\tQ\tS\tnot_entailment", "Q", "S",
            "not_entailment"},
           {"RTE", "index\tsentence1\tsentence2\tlabel", "0\tA\tB\tentailment", "A", "B", "entailment"},
           {"WNLI", "index\tsentence1\tsentence2\tlabel", "0\tA\tB\t1", "A", "B", "1"}}) {
    glue(one.folder, one.header + "\n" + one.row + "\n" + one.row + "\n", one.header + "\n" + one.row + "\n");
    const TextSet set = load();
    const auto at = static_cast<size_t>(set.test.at(0));
    EXPECT_EQ(set.first[at], one.first) << one.folder;
    EXPECT_EQ(set.pairs() ? std::string(set.second[at]) : "", one.second) << one.folder;
    EXPECT_EQ(set.classes.at(static_cast<size_t>(set.labels[at])), one.label) << one.folder;
  }
}

TEST_F(TextSets, MnliHasMatchedAndMismatchedPairs) {
  const std::string train = "index\tgenre\tsentence1\tsentence2\tlabel1\tgold_label\n";
  const std::string dev = "index\tgenre\tsentence1\tsentence2\tlabel1\tlabel2\tgold_label\n";
  glue("MNLI", train + "0\tx\tA\tB\tneutral\tneutral\n1\tx\tA\tB\tneutral\tcontradiction\n",
       dev + "0\tx\tC\tD\tneutral\tneutral\tentailment\n", "dev_matched.tsv");
  folder_.write("MNLI/dev_mismatched.tsv", dev + "0\ty\tE\tF\tneutral\tneutral\tneutral\n");
  const TextSet set = load();
  EXPECT_EQ(set.test.size(), 1U);
  ASSERT_EQ(set.further.size(), 1U);
  EXPECT_EQ(set.second[static_cast<size_t>(set.further[0])], "F");
  EXPECT_EQ(set.labels[static_cast<size_t>(set.test[0])], 0);
  EXPECT_TRUE(load(false, false).further.empty());
}

TEST_F(TextSets, StsbTellsNumbers) {
  const std::string header = "index\tsentence1\tsentence2\tscore\n";
  glue("STS-B", header + "0\tA\tB\t3.250\n1\tA\tC\t0\n", header + "0\tD\tE\t5\n");
  const TextSet set = load(true);
  EXPECT_EQ(set.targets.size(), 3U);
  EXPECT_EQ(set.targets[static_cast<size_t>(set.test[0])], 5.0);
  EXPECT_EQ(refused(ErrorKind::config), "STS-B is a regression task: text.objective must be \"regression\"");
  glue("STS-B", header + "0\tA\tB\t3.250\n1\tA\tC\tN/A\n", header + "0\tD\tE\t5\n");
  EXPECT_EQ(refused(ErrorKind::data, true),
            folder_.path("STS-B/train.tsv") + ":3: the target 'N/A' is not a number");
}

TEST_F(TextSets, DevMayChooseTheWeightsToo) {
  glue("SST-2", "sentence\tlabel\na\t1\nb\t0\n", "sentence\tlabel\nc\t1\n");
  config_.dev = "both";
  const TextSet set = load();
  EXPECT_EQ(set.validation, set.test);
  EXPECT_EQ(set.train.size(), 2U);
}

TEST_F(TextSets, SaysWhatIsWrongInGluesFiles) {
  const std::string header = "index\tsentence1\tsentence2\tlabel\n", good = "0\tA\tB\tentailment\n";
  const std::string train = folder_.path("RTE/train.tsv");
  glue("RTE", header + "0\tA\tB\n", header + good);
  EXPECT_EQ(refused(), train + ":2: 3 cells, but the first row has 4 (data.allow_broken skips such rows)");
  glue("RTE", header + "0\tA\tB\tmaybe\n", header + good);
  EXPECT_EQ(refused(), train + ":2: the label 'maybe' is not one of entailment, not_entailment");
  glue("RTE", header + good + "0\tA\t \tentailment\n", header + good);
  EXPECT_EQ(refused(),
            train + ":3: the second text of the pair is empty (data.allow_broken skips such rows)");
  config_.allow_broken = true;
  EXPECT_THAT(load().notes, testing::Contains(train + ": 1 malformed row skipped, in line 3"));
  glue("RTE", header + good + "0\tA\t \tentailment\n0\tA\n" + good, header + good);
  EXPECT_THAT(load().notes, testing::Contains(train + ": 2 malformed rows skipped, the first in line 3"));
  glue("RTE", "index\tsentence1\tsentence\tlabel\n" + good, header + good);
  EXPECT_EQ(refused(),
            train +
                ":1: there is no column 'sentence2' (did you mean 'sentence1'?); the layout of RTE "
                "needs it, and the header has: index, sentence1, sentence, label");
}

TEST_F(TextSets, AFileOfOnesOwnIsPartedByClass) {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += "{\"text\": \"t" + std::to_string(i) + "\", \"label\": " + (i % 4 == 0 ? "10" : "9") + "}\n";
  config_.path = folder_.write("x.jsonl", lines);
  const TextSet set = load();
  EXPECT_THAT(set.classes, ElementsAre("9", "10"));
  EXPECT_EQ(set.class_counts(set.train), (std::vector<int64_t>{24, 8}));
  EXPECT_EQ(set.class_counts(set.validation), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(set.class_counts(set.test), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(load().train, set.train);
  config_.split_seed = 2;
  EXPECT_NE(load().train, set.train);
  EXPECT_NE(hash_of(load()), hash_of(set));
}

TEST_F(TextSets, ColumnsOfOnesOwnHaveNames) {
  folder_.write("own/train.csv", "body,other,kind\n\"a, b\",c,x\nd,e,y\nf,g,x\nh,i,y\n");
  folder_.write("own/test.csv", "kind,body,other\nx,\"j\n\"\"k\"\"\",l\n");
  config_.path = folder_.path("own");
  EXPECT_EQ(refused(), folder_.path("own/train.csv") +
                           ":1: there is no column 'text'; set data.text, data.pair and data.label, here "
                           "perhaps data.text=body; the columns are: body, other, kind");
  config_.text = "body";
  config_.pair = "other";
  config_.label = "kind";
  config_.validation_share = 0.5;
  const TextSet set = load();
  EXPECT_EQ(set.first[static_cast<size_t>(set.test[0])], "j\n\"k\"");
  EXPECT_EQ(set.second[static_cast<size_t>(set.test[0])], "l");
  EXPECT_EQ(set.class_counts(set.validation), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(set.class_counts(set.train), (std::vector<int64_t>{1, 1}));
}

TEST_F(TextSets, SaysWhatIsWrongInFilesOfOnesOwn) {
  const auto file = [&](const std::string& lines) { return config_.path = folder_.write("x.jsonl", lines); };
  const std::string path = file("{\"text\": \"a\", \"label\": \"x\"}\n{\"text\": 3}\n");
  EXPECT_EQ(refused(), path + ":2: field 'text' must be a text, got 3");
  file("{\"review\": \"a\", \"label\": 1}\n");
  EXPECT_EQ(refused(),
            path +
                ":1: the object has no text field 'text'; set data.text, data.pair and data.label, here "
                "perhaps data.text=review; the columns are: label, review");
  file("{\"text\": \"a\", \"label\": [1]}\n");
  EXPECT_EQ(refused(), path + ":1: 'label' must be a text or a number, got [1]");
  file("{\"text\": \"a\", \"label\": 1}\n");
  EXPECT_EQ(refused(), path + ": all texts have the class '1'");
  file("{\"text\": \"a\"}\n");
  EXPECT_EQ(refused(), path +
                           ":1: there is no column 'label'; set data.text, data.pair and data.label; the "
                           "columns are: text");
  file("{\"text\": \"a\", \"label\": null}\n");
  EXPECT_EQ(refused(),
            path + ": no text has a class in 'label'; set data.label (the columns are: label, text)");
  file("{\"text\": \"" + std::string((1 << 20) + 1, 'a') + "\", \"label\": 1}\n");
  EXPECT_EQ(refused(), path + ":1: a text of 1048577 bytes; the maximum is 1048576");
  file("{\"text\": \"a\", \"pair\": \"\", \"label\": 1}\n");
  EXPECT_EQ(refused(), path + ":1: the second text of the pair is empty (data.allow_broken skips such rows)");
  config_.path = folder_.write("x.doc", "a");
  EXPECT_EQ(refused(),
            folder_.path("x.doc") + ": expected a text file: .jsonl, .csv, .tsv, .txt, .ndjson, .json");
  config_.path = folder_.path("none");
  EXPECT_EQ(refused(ErrorKind::no_input), "there is no file or folder " + folder_.path("none"));
}

TEST_F(TextSets, NamesTheColumnsThatThereAre) {
  const std::string path = config_.path =
      folder_.write("x.csv", "review,sentiment\nfine,good\nbad,poor\nfine,good\nbad,poor\n");
  EXPECT_EQ(refused(),
            path +
                ":1: there is no column 'text'; set data.text, data.pair and data.label, here perhaps "
                "data.text=review and data.label=sentiment; the columns are: review, sentiment");
  config_.text = "review";
  EXPECT_EQ(refused(),
            path +
                ":1: there is no column 'label'; set data.text, data.pair and data.label, here perhaps "
                "data.label=sentiment; the columns are: review, sentiment");
  config_.label = "sentiment";
  EXPECT_THAT(load().classes, ElementsAre("good", "poor"));
  config_ = {};
  config_.path = folder_.write("x.csv", "text, label\nfine,good\nbad,poor\n");
  EXPECT_EQ(refused(),
            path +
                ":1: there is no column 'label' (did you mean ' label'?); set data.text, data.pair and "
                "data.label, here perhaps data.label= label; the columns are: "
                "text,  label");
}

TEST_F(TextSets, LabelsMayHaveSpacesAroundThem) {
  const std::string path = config_.path =
      folder_.write("x.csv", "\xEF\xBB\xBFtext,label\na,poor \nb,good\nc,poor\nd, good\ne,poor\nf,good\n");
  const TextSet set = load();
  EXPECT_THAT(set.classes, ElementsAre("good", "poor"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1, 0, 1, 0));
  ASSERT_EQ(set.warnings, 1U);
  EXPECT_EQ(set.notes[0], path + ":2: spaces around 2 labels are ignored, as in 'poor '");
  const TextSet own = load_texts_for(path, config_, {{"good", "poor "}, false});
  EXPECT_EQ(own.labels[0], 1) << "the classes of a run of before";
}

TEST_F(TextSets, WarnsOfClassesThatDifferInCaseAlone) {
  const std::string path = config_.path = folder_.write("x.csv", "text,label\na,Good\nb,good\nc,1\nd,1.0\n");
  const TextSet set = load();
  ASSERT_EQ(set.warnings, 2U);
  const std::string rest =
      " differ only in case, spaces or the form of a number; rename one of them if they are the same class";
  EXPECT_EQ(set.notes[0], path + ": classes '1' and '1.0'" + rest);
  EXPECT_EQ(set.notes[1], path + ": classes 'Good' and 'good'" + rest);
}

TEST_F(TextSets, EveryTextNeedsAClass) {
  const std::string text = "text,label,n\na,x,1\n\"b\nc\",,2\nd,y,3\n";
  const std::string path = config_.path = folder_.write("x.csv", text);
  const std::string rest =
      "; add it, or remove the row (data.label names another column; the columns are: text, "
      "label, n)";
  EXPECT_EQ(refused(), path + ":3: the text has no class: 'label' is empty" + rest);
  config_.label = "n";
  folder_.write("x.csv", "text,n\na,1\nb, \n");
  EXPECT_EQ(
      refused(ErrorKind::data, true),
      path +
          ":3: the text has no target: 'n' is empty; add it, or remove the row (data.label names another "
          "column; the columns are: text, n)");
  config_.label = "label";
  folder_.write("x.csv", text);
  const TextSet other = load_texts_for(path, config_, {{"x", "y"}, false});
  EXPECT_THAT(other.labels, ElementsAre(0, -1, 1));
  EXPECT_EQ(other.unlabelled, path + ":3");
}

TEST_F(TextSets, AreRecognisedByTheirColumns) {
  const auto recognised = [&](const std::string& name, const std::string& text) {
    return holds_labelled_texts(folder_.write(name, text));
  };
  EXPECT_TRUE(recognised("a.csv", "\xEF\xBB\xBFtext,label\na,b\n"));
  EXPECT_TRUE(recognised("a.csv", "Review,Sentiment\na,b\n"));
  EXPECT_TRUE(recognised("a.csv", ",sentence,label\n0,a,b\n"));
  EXPECT_TRUE(recognised("a.tsv", "id\tcontent\tcategory\n0\ta\tb\n"));
  EXPECT_TRUE(recognised("a.jsonl", "{\"text\": \"a\", \"labels\": 1}\n"));
  EXPECT_FALSE(recognised("a.csv", "date,value,comment,category\n"));
  EXPECT_FALSE(recognised("a.csv", "date,y\n2020-01-01,1\n"));
}

TEST_F(TextSets, OtherTextsMustFitTheModel) {
  const std::string pairs = folder_.write("p.tsv", "text\tpair\tlabel\na\tb\tx\n");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       load_texts_for(pairs, config_, {{"x", "y"}, false});
                     }),
            pairs + ": pairs of texts, but the run was trained on single texts");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       load_texts_for(pairs, config_, {{"u", "v"}, true});
                     }),
            pairs + ":2: the label 'x' is not one of u, v");
  const TextSet lines =
      load_texts_for(folder_.write("l.txt", "one \"text\n\ntwo\ttexts\n"), config_, {{"x", "y"}, false});
  EXPECT_EQ(texts(lines.first), (Texts{"one \"text", "two\ttexts"}));
}

TEST_F(TextSets, OtherTextsLeaveOutMalformedRows) {
  const std::string path = folder_.write("o.csv", "text,label\na,x\n\" \",y\nb,y,z\nc,y\n");
  const TextSet set = load_texts_for(path, config_, {{"x", "y"}, false});
  EXPECT_EQ(texts(set.first), (Texts{"a", "c"}));
  EXPECT_THAT(set.names, ElementsAre("2", "5"));
  ASSERT_EQ(set.warnings, 1U);
  EXPECT_EQ(set.notes[0], path + ": 2 malformed rows skipped, the first in line 3");
  const TextSet lines =
      load_texts_for(folder_.write("w.txt", " \t\na\n  \nb\n"), config_, {{"x", "y"}, false});
  EXPECT_EQ(texts(lines.first), (Texts{"a", "b"}));
  EXPECT_THAT(lines.names, ElementsAre("2", "4"));
  EXPECT_EQ(lines.warnings, 0U);
}

TEST_F(TextSets, ColumnsOfPairsAreProposed) {
  config_.path = folder_.write("n.csv", "premise,hypothesis,category\na,b,x\n");
  EXPECT_EQ(
      error_of(ErrorKind::data, [&] { load_texts(config_, false); }),
      config_.path +
          ":1: there is no column 'text'; set data.text, data.pair and data.label, here perhaps "
          "data.text=premise and data.pair=hypothesis and data.label=category; the columns are: premise, "
          "hypothesis, category");
}

}  // namespace
}  // namespace modewise::data
