#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/captioning/spec.h"
#include "modewise/tasks/captioning/word_maps.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShownImages = 6, kWordByWord = 4;

/// Images with the highest or lowest scores.
void add_images(report::HtmlPage& page, const data::CaptionSet& set, const std::vector<int64_t>& samples,
                const EvaluatedCaptions& evaluated, bool best) {
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto score = [&](size_t i) { return evaluated.evaluation.evaluation.images[i].cider_d; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return best ? score(a) > score(b) : score(a) < score(b); });
  order.resize(std::min(order.size(), static_cast<size_t>(kShownImages)));
  page.add_section(best ? "Highest CIDEr-D" : "Lowest CIDEr-D", 3);
  std::vector<report::CaptionedImage> images;
  for (const size_t i : order) {
    const data::CaptionedImage& image = set.images[static_cast<size_t>(samples[i])];
    std::string caption = fmt::format("{}: “{}” (CIDEr-D {:.2f}). Reference: “{}”", image.file,
                                      evaluated.captions.text(i), score(i), image.captions.front());
    if (set.pixels.defined())
      images.push_back({image_png(set, samples[i]), std::move(caption)});
    else
      page.add_paragraph(caption);
  }
  if (!images.empty()) page.add_figures(images, 220);
}

void add_word_by_word(report::HtmlPage& page, const CaptioningRun& run, const std::vector<int64_t>& samples,
                      const EvaluatedCaptions& evaluated) {
  page.add_section("Attention by word");
  page.add_paragraph(
      "Cross-attention weights of the last layer, mean over heads, for the prediction of each word: brighter "
      "is larger. Attention types that do not depend on content have the same weights for every image.");
  for (const int64_t i : spread_samples(std::ssize(samples), kWordByWord)) {
    const int64_t sample = samples[static_cast<size_t>(i)];
    const std::vector<report::CaptionedImage> maps = word_maps(run, sample);
    if (maps.empty()) {
      page.add_paragraph(
          "This model's cross-attention has no weights for single cells, so there is nothing to draw.");
      return;
    }
    page.add_section(fmt::format("{}: {}", run.set.images[static_cast<size_t>(sample)].file,
                                 evaluated.captions.text(static_cast<size_t>(i))),
                     3);
    page.add_figures(maps, 110);
  }
}

/// Bar charts of CIDEr-D, then learning curves.
void draw_captioners(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<report::CaptionedFigure> figures = {
      {group_bars("CIDEr-D, test", groups, "/test/cider_d"), ""},
      {group_bars("CIDEr-D, training images", groups, "/train/cider_d"), ""}};
  for (const RunGroup& group : groups) {
    const auto [name, lines] = learning_lines(group);
    if (lines.size() > 1) figures.push_back({curve_figure(lines, {"val_cider_d"}, name), ""});
  }
  page.add_figure_grid(figures);
}

/// Caption metrics: title, key, decimals.
std::vector<JsonColumn> metric_columns() {
  std::vector<JsonColumn> columns;
  for (const metrics::CaptionScores::Named& one : metrics::CaptionScores().named())
    columns.push_back({std::string(one.title), std::string(one.key), 4, 1, report::Column::Best::none});
  return columns;
}

}  // namespace

std::vector<ResultTable> CaptioningRun::tables(const Json& metrics) const {
  Json parts = Json::array();
  for (const char* part : {"train", "validation", "test", "all"})
    if (metrics.contains(part) && metrics.at(part).value("split", "") == part)
      parts.push_back(metrics.at(part));
  std::vector<JsonColumn> columns = {{"split", "split"}, {"images", "images"}};
  for (JsonColumn& column : metric_columns()) columns.push_back(std::move(column));
  columns.push_back({"loss", "loss", 4});
  return {{"Evaluation",
           "Against all reference captions of the images; METEOR without paraphrases; loss in nats per word.",
           json_table(columns, parts)}};
}

report::HtmlPage CaptioningRun::page(const Json& metrics) {
  const std::string part = evaluated_part(metrics);
  const std::vector<int64_t>& samples = evaluated_images(set, part);
  report::HtmlPage page =
      open_page(*this, {data_title(config),
                        "Captioner",
                        {{"captions", config.data.path},
                         {"images", fmt::format("{} training, {} validation, {} test", set.train.size(),
                                                set.validation.size(), set.test.size())}},
                        {{"vocabulary", fmt::format("{} words", set.vocabulary.words().size())}}});
  add_tables(page, tables(metrics));
  page.add_paragraph(
      set.validation.empty()
          ? "There are no validation images: the weights are those of the best training metric."
          : "The weights are those of the best validation metric.");
  add_learning(page, folder(),
               {{"Validation CIDEr-D and BLEU-4, greedy search", {"val_cider_d", "val_bleu_4"}},
                {"Losses", {"train_loss", "val_loss"}}});
  const EvaluatedCaptions evaluated = caption_samples(samples, part);
  page.add_section("Images and captions");
  page.add_paragraph(fmt::format("Out of {} images of the {} split.", samples.size(),
                                 metrics.at(part).at("split").get<std::string>()));
  add_images(page, set, samples, evaluated, true);
  add_images(page, set, samples, evaluated, false);
  add_word_by_word(page, *this, samples, evaluated);
  return page;
}

const Comparison& caption_comparison() {
  using Best = report::Column::Best;
  static const Comparison comparison = [] {
    Comparison made = {
        {}, {}, "Comparison of captioners", "Test images", draw_captioners, {"caption.evaluation_batch"}};
    made.columns.emplace_back(report::Column{"parameters"}, "/parameters", 0);
    made.json.emplace_back("parameters", "/parameters");
    for (const JsonColumn& one : metric_columns()) {
      const std::string place = "/test/" + one.key;
      made.columns.emplace_back(report::Column{one.name, Best::highest}, place.c_str(), 4);
      made.json.emplace_back(one.key, place.c_str());
    }
    for (const char* part : {"validation", "train"}) {
      const std::string place = fmt::format("/{}/cider_d", part), name = fmt::format("{} CIDEr-D", part);
      made.columns.emplace_back(report::Column{name}, place.c_str(), 4);
      made.json.emplace_back(fmt::format("{}_cider_d", part), place.c_str());
    }
    return made;
  }();
  return comparison;
}

}  // namespace modewise::tasks
