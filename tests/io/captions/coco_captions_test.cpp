#include "modewise/io/captions/coco_captions.h"

#include "tests/io/damage.h"

namespace modewise::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void captions(std::span<const std::byte> bytes) {
  parse_coco_captions(bytes, "file");
}
void results(std::span<const std::byte> bytes) {
  parse_coco_results(bytes, "file");
}

constexpr const char* kSmall = R"({"info": {"year": [2017, {}]},
 "annotations": [{"image_id": 30, "id": 1, "caption": "A dog.\n"}, {"caption": "", "image_id": -2},
                 {"image_id": 30, "caption": "ein \u00e4lterer \ud83d\ude00 Hund"}],
 "images": [{"height": 4, "id": 30, "file_name": "a.jpg"}, {"id": 4, "file_name": "b\u002fc.jpg"}, {"file_name": "", "id": -2}]})";
constexpr const char* kResults =
    R"([{"image_id": 5, "caption": "two"}, {"score": 1e-3, "caption": "one", "image_id": 3}])";

TEST(CocoCaptions, ReadsImagesAndCaptions) {
  const CaptionFile file = parse_coco_captions(to_bytes(kSmall), "file");
  ASSERT_EQ(file.images.size(), 3u);
  EXPECT_EQ(file.images.image(0), 30);
  EXPECT_EQ(file.images.text(0), "a.jpg");
  EXPECT_EQ(file.images.text(1), "b/c.jpg");
  EXPECT_EQ(file.images.image(2), -2);
  EXPECT_EQ(file.images.text(2), "");
  ASSERT_EQ(file.captions.size(), 3u);
  EXPECT_EQ(file.captions.text(0), "A dog.\n");
  EXPECT_EQ(file.captions.text(1), "");
  EXPECT_EQ(file.captions.text(2), "ein \u00e4lterer \U0001F600 Hund");
  EXPECT_THAT(file.captions.of(30), ElementsAre(0, 2));
  EXPECT_THAT(file.captions.of(-2), ElementsAre(1));
  EXPECT_TRUE(file.captions.of(4).empty());
  EXPECT_TRUE(file.captions.of(31).empty());
  EXPECT_THAT(file.images.of(4), ElementsAre(1));
  EXPECT_EQ(
      parse_coco_captions(to_bytes(R"({"images": [{"id": 5}], "annotations": []})"), "file").images.text(0),
      "");
}

TEST(CocoCaptions, CountsCaptionsOfImagesThatAreNotListed) {
  const auto left_out = [](const std::string& captions) {
    return parse_coco_captions(to_bytes(R"({"images": [{"id": 1}], "annotations": [)" + captions + "]}"),
                               "file")
        .left_out;
  };
  const std::string listed = R"({"image_id": 1, "caption": "x"})",
                    other = R"({"image_id": 2, "caption": "y"})";
  EXPECT_EQ(left_out(listed), "");
  EXPECT_EQ(left_out(listed + "," + other),
            "1 caption of images that are not in \"images\", the first is annotations[1] of image 2");
  EXPECT_EQ(left_out(other + "," + listed + "," + other),
            "2 captions of images that are not in \"images\", the first is annotations[0] of image 2");
}

TEST(CocoCaptions, ReadsResults) {
  const ImageTexts texts = parse_coco_results(to_bytes(kResults), "file").captions;
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts.image(1), 3);
  EXPECT_EQ(texts.text(1), "one");
  const CaptionResults named = parse_coco_results(
      to_bytes(
          R"([{"file_name": "a/\u00e9.png", "image_id": 5, "caption": ""}, {"image_id": 3, "caption": "b"}])"),
      "file");
  EXPECT_EQ(named.files.text(0), "a/\u00e9.png");
  EXPECT_EQ(named.files.text(1), "");
  EXPECT_THAT(texts.of(5), ElementsAre(0));
  EXPECT_EQ(parse_coco_results(to_bytes(" [ ] "), "file").captions.size(), 0u);
}

TEST(CocoCaptions, RefusesAnnotationsWithTheEntry) {
  const auto file = [](const std::string& images, const std::string& annotations) {
    return R"({"images": [)" + images + R"(], "annotations": [)" + annotations + "]}";
  };
  const std::string image = R"({"id": 1, "file_name": "a"})", good = R"({"image_id": 1, "caption": "x"})";
  expect_refused(
      captions,
      {{"empty", "",
        "file: expected caption annotations, an object with the lists \"images\" and \"annotations\""},
       {"a list", kResults,
        "file: expected caption annotations, an object with the lists \"images\" and \"annotations\"; this "
        "file is a list, like results"},
       {"no images", R"({"annotations": []})", "file: the list \"images\" is missing"},
       {"no annotations", R"({"images": []})", "file: the list \"annotations\" is missing"},
       {"annotations twice", R"({"images": [], "annotations": [], "annotations": []})",
        "file: duplicate key \"annotations\""},
       {"images are an object", R"({"images": {}, "annotations": []})",
        "file: \"images\" must be a list (byte 11)"},
       {"annotations are null", R"({"images": [], "annotations": null})",
        "file: \"annotations\" must be a list (byte 30)"},
       {"no id", file(image + R"(, {"file_name": "b"})", good), "file: images[1] (byte 41) has no \"id\""},
       {"no image", file(image, good + R"(, {"caption": "x"})"),
        "file: annotations[1] (byte 91) has no \"image_id\""},
       {"no caption", file(image, R"({"image_id": 1})"), "file: annotations[0] (byte 58) has no \"caption\""},
       {"image as text", file(image, R"({"image_id": "1", "caption": "x"})"),
        "file: annotations[0] (byte 58) needs an integer as \"image_id\""},
       {"half an image", file(image, R"({"image_id": 1.5, "caption": "x"})"),
        "file: the JSON is wrong at byte 71: image_id must be an integer"},
       {"caption as number", file(image, R"({"image_id": 1, "caption": 5})"),
        "file: annotations[0] (byte 58) needs a text as \"caption\""},
       {"captions as list", file(image, R"({"image_id": 1, "caption": ["x"]})"),
        "file: annotations[0] (byte 58) needs a text as \"caption\""},
       {"caption twice", file(image, R"({"image_id": 1, "caption": "x", "caption": "y"})"),
        "file: annotations[0] (byte 58) has \"caption\" twice"},
       {"image twice", file(image, R"({"image_id": 1, "image_id": 1, "caption": "y"})"),
        "file: annotations[0] (byte 58) has \"image_id\" twice"},
       {"no object", file(image, good + ", 3"), "file: annotations[1] (byte 91) must be an object"},
       {"an image twice", file(image + "," + image, good), "file: images[1]: image 1 is a duplicate of [0]"},
       {"more behind it", file(image, good) + "x",
        "file: the JSON is wrong at byte 91: unexpected text after the end"},
       {"no UTF-8", file(image, "{\"image_id\": 1, \"caption\": \"\xFF\"}"), "file: not UTF-8 at byte 86"},
       {"half a surrogate", file(image, R"({"image_id": 1, "caption": "\ud83d"})"),
        "file: the JSON is wrong at byte 91: a high surrogate without its low one"}});
}

TEST(CocoCaptions, RefusesResultsWithTheEntry) {
  expect_refused(
      results,
      {{"empty", "", "file: expected results, a list of objects with \"image_id\" and \"caption\""},
       {"an object", kSmall,
        "file: expected results, a list of objects with \"image_id\" and \"caption\"; this file is an "
        "object, like annotations"},
       {"no caption", R"([{"image_id": 5}])", "file: [0] (byte 1) has no \"caption\""},
       {"two for one",
        R"([{"image_id": 5, "caption": "a"}, {"image_id": 6, "caption": ""}, {"image_id": 5, "caption": "a"}])",
        "file: [2]: image 5 has two captions, the first is [0]"},
       {"a list in a list", "[[]]", "file: [0] (byte 1) must be an object"},
       {"two names", R"([{"file_name": "a", "file_name": "b", "image_id": 1, "caption": ""}])",
        "file: [0] (byte 1) has \"file_name\" twice"},
       {"a name as number", R"([{"file_name": 3, "image_id": 1, "caption": ""}])",
        "file: [0] (byte 1) needs a text as \"file_name\""}});
}

TEST(CocoCaptions, RefusesEveryTruncation) {
  expect_every_truncation_fails(captions, kSmall);
  expect_every_truncation_fails(results, kResults);
}

TEST(CocoCaptions, SurvivesEveryFlip) {
  expect_flips_are_clean(captions, kSmall);
  expect_flips_are_clean(results, kResults);
}

TEST(CocoCaptions, RefusesEndlessNesting) {
  EXPECT_THAT(message_of(results, std::string(1 << 20, '[')), HasSubstr("nested deeper than 512"));
  EXPECT_THAT(message_of(captions, R"({"a": )" + std::string(1 << 20, '[')),
              HasSubstr("nested deeper than 512"));
}

}  // namespace
}  // namespace modewise::io
