#include "modewise/tasks/registry.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "modewise/core/error.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise::tasks {
namespace {

TEST(Tasks, HaveNamesOfTheirOwn) {
  EXPECT_THAT(task_commands(),
              testing::IsSupersetOf({"forecast", "classify-volumes", "segment", "text", "classify-series",
                                     "classify-images", "caption", "language"}));
  EXPECT_EQ(task_commands().front(), "forecast");
  for (const TaskSpec* task : task_specs()) EXPECT_EQ(&task_named(task->command), task);
  for (const TaskSpec* task : task_specs()) EXPECT_EQ(&task_named(task->name), task);
  try {
    task_named("clasify");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.what(),
              fmt::format("there is no task 'clasify' (there are {})", fmt::join(task_commands(), ", ")));
  }
}

TEST(Tasks, HaveEverythingThatCommandsNeed) {
  for (const TaskSpec* task : task_specs()) {
    EXPECT_THAT(task->subject, testing::MatchesRegex("an? .+")) << task->name;
    EXPECT_TRUE(task->create && task->describe_data) << task->name;
    // The first task takes data that no other task claims.
    EXPECT_TRUE(task->owns || task == task_specs().front()) << task->name;
    ASSERT_NE(task->comparison, nullptr) << task->name;
    EXPECT_FALSE(task->comparison().columns.empty()) << task->name;
    // `predict` predicts or names the command in its place.
    EXPECT_EQ(task->predict.predict == nullptr, !task->predict_with.empty()) << task->name;
    EXPECT_EQ(task->evaluate_options.title.empty(), task->evaluate_options.options.empty()) << task->name;
  }
}

TEST(Tasks, ShortOptionsStandForFieldsThatThereAre) {
  for (const TaskSpec* task : task_specs()) {
    const auto run = task->create({});
    const Fields fields = run->settings().fields;
    std::set<std::string> paths, flags;
    for (const Field& field : fields.list()) paths.insert(field.path);
    for (const ShortOption& option : task->options) {
      EXPECT_TRUE(paths.contains(option.key)) << task->name << ": " << option.key;
      EXPECT_TRUE(flags.insert(option.flag).second) << task->name << ": " << option.flag;
    }
  }
}

TEST(Tasks, MakeRunsOfTheirSettings) {
  for (const TaskSpec* task : task_specs()) {
    const auto run = task->create({"", {"train.seed=7", "train.test=false", "output.report=false"}});
    const RunSettings settings = run->settings();
    EXPECT_EQ(settings.train.seed, 7) << task->name;
    EXPECT_FALSE(settings.train.test) << task->name;
    EXPECT_FALSE(settings.report) << task->name;
    EXPECT_FALSE(settings.model.empty()) << task->name;
    EXPECT_FALSE(run->has_folder()) << task->name;
    EXPECT_THAT(settings.fields.to_toml(), testing::HasSubstr("seed = 7\n")) << task->name;
  }
}

TEST(Tasks, AreChosenByValidationAndNeverByTest) {
  for (const TaskSpec* task : task_specs()) {
    EXPECT_FALSE(task->validation.empty()) << task->name;
    for (const ValidationFigure& figure : task->validation)
      EXPECT_THAT(figure.path, testing::ContainsRegex("^/(best/val_|validation/)")) << task->name;
  }
}

TEST(Tasks, KnowTheirData) {
  const ScratchFolder folder;
  const auto task_of = [](const std::filesystem::path& path) { return task_of_data(path).name; };
  EXPECT_EQ(task_of("a.csv"), "forecasting");
  EXPECT_EQ(task_of("a.nii.gz"), "volume_classification");
  EXPECT_EQ(task_of("a.npz"), "forecasting");  // no file: not recognized as volumes
  EXPECT_EQ(task_of("a.TIF"), "segmentation");
  EXPECT_EQ(task_of("recall"), "language_modeling");
  EXPECT_EQ(task_of("motifs"), "series_classification");
  folder.write("b/readme.txt", "");
  EXPECT_EQ(task_of(folder / "b"), "forecasting");
  folder.write("b/c/X_TRAIN.ts", "");
  EXPECT_EQ(task_of(folder / "b"), "series_classification");
  const auto task_of_file = [&](const std::string& name, const std::string& text) {
    return task_of(folder.write(name, text));
  };
  EXPECT_EQ(task_of_file("captions_train2017.json",
                         R"({"images": [{"id": 1, "file_name": "a.jpg"}],
                             "annotations": [{"id": 1, "image_id": 1, "caption": "a dog"}]})"),
            "captioning");
  EXPECT_EQ(task_of_file("captions.json", "[1, 2, 3]"), "forecasting");  // recognized by its content
  EXPECT_EQ(task_of_file("rates.txt", "0.7855 1.611\n0.7818 1.610\n"), "forecasting");
  EXPECT_EQ(task_of_file("novel.txt", "It is a truth universally acknowledged, that a man of 30\n"),
            "language_modeling");
  EXPECT_EQ(task_of_file("roman.txt", "Я помню чудное мгновенье\n"), "language_modeling");
  EXPECT_EQ(task_of_file("plain.jsonl", "{\"text\": \"label\"}\n"), "language_modeling");
  EXPECT_EQ(task_of_file("broken.jsonl", "{\"text\": \"a\", \"label\"\n"), "language_modeling");
  EXPECT_EQ(task_of_file("classes.jsonl", "{\"label\": 1, \"text\": \"a\"}\n"), "text");
  EXPECT_EQ(task_of_file("reviews.csv", "id;label;text\r\n1;good;\"a;b\"\r\n"), "text");
  EXPECT_EQ(task_of_file("quote.csv", "\"text,label\n1,2\n"), "forecasting");
  EXPECT_EQ(task_of_file("years.csv", "label,context\n1,2\n"), "forecasting");
  folder.write("novels/part/one.txt", "It is a truth universally acknowledged\n");
  EXPECT_EQ(task_of(folder / "novels"), "language_modeling");
  folder.write("own/train.tsv", "text\tlabel\na\tb\n");
  EXPECT_EQ(task_of(folder / "own"), "text");
  folder.write("RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n");
  EXPECT_EQ(task_of(folder / "RTE"), "text");
}

TEST(Tasks, HaveTheGivenSettingsOfData) {
  const auto task_of = [](const char* path, const std::vector<std::string>& given) {
    return task_of_data(path, given).name;
  };
  EXPECT_EQ(task_of("a.csv", {"--masks"}), "segmentation");
  EXPECT_EQ(task_of("a.csv", {"train.epochs", "data.masks"}), "segmentation");
  EXPECT_EQ(task_of("a.png", {"data.masks"}), "segmentation");
  EXPECT_EQ(task_of("a.csv", {"--horizon", "--window", "text.objective", "data.none", "--json"}),
            "forecasting");
  EXPECT_EQ(task_of("a.nii.gz", {"data.split_ratios", "classify.select"}), "volume_classification");
}

TEST(Tasks, RunsAndPretrainedModelsAreNoData) {
  const ScratchFolder folder;
  const auto sentence = [&](const char* name) {
    return error_of(ErrorKind::no_input, [&] { task_of_data(folder / name); });
  };
  for (const char* name : {"run/config.toml", "run/manifest.json", "run/metrics.csv", "bert/config.json"})
    folder.write(name, "");
  folder.write("bert/vocab.txt", "[PAD]\nit is a truth universally acknowledged\n");
  EXPECT_EQ(task_of_data(folder / "bert").name, "language_modeling");
  for (const char* weights : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"}) {
    folder.write("bert/" + std::string(weights), "");
    EXPECT_THAT(sentence("bert"), testing::HasSubstr("got the folder of a pretrained model: "));
    std::filesystem::remove(folder / "bert" / weights);
  }
  EXPECT_THAT(sentence("run"),
              testing::EndsWith("expected data, got a run folder: " + (folder / "run").string()));
}

TEST(Tasks, CandidatesAreConfigsOfTheirTask) {
  std::vector<std::string> searched;
  for (const TaskSpec* task : task_specs()) {
    if (!task->search) continue;
    searched.push_back(task->name);
    std::vector<std::string> data;
    if (task->name == "forecasting") data = {"data.simulate=lorenz96"};
    if (task->name == "series_classification") data = {"data.path=motifs"};
    std::set<std::string> names;
    for (const Candidate& one : task->search->candidates({"", data})) {
      EXPECT_TRUE(names.insert(one.name).second) << task->name << " " << one.name;
      EXPECT_EQ(one.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos)
          << one.name;
      ASSERT_FALSE(one.settings.empty());
      EXPECT_TRUE(one.settings.front().starts_with("model.name=")) << one.name;
      EXPECT_NO_THROW(task->create({"", one.settings})) << task->name << " " << one.name;
    }
    EXPECT_GE(names.size(), 4u) << task->name;
  }
  EXPECT_THAT(searched,
              testing::IsSupersetOf({"forecasting", "volume_classification", "series_classification",
                                     "image_classification", "segmentation"}));
}

}  // namespace
}  // namespace modewise::tasks
