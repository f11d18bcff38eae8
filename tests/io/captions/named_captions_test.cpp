// Caption files that name images by their files, and the choice of the format. The files are written as those
// that are published: Flickr8k.token.txt, Kaggle's captions.txt, Flickr30k's results.csv, Karpathy's
// dataset_*.json, and metadata.jsonl of Hugging Face.

#include "modewise/io/captions/named_captions.h"

#include "tests/io/damage.h"

namespace modewise::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFlickr8k =
    "10_a.jpg#0\tA child in a pink dress .\n10_a.jpg#1\tA girl, \"going\" inside\n9_b.jpg#0\tTwo dogs .\n";
constexpr const char* kKaggle =
    "image,caption\n10_a.jpg,A child in a pink dress .\n10_a.jpg,\"A girl, \"\"going\"\" "
    "inside\"\n9_b.jpg,Two "
    "dogs .\n";
constexpr const char* kFlickr30k =
    "image_name| comment_number| comment\n10_a.jpg| 0| A child in a pink dress .\n10_a.jpg| 1| A girl, "
    "\"going\" "
    "inside\n9_b.jpg| 0| Two dogs .\n";
constexpr const char* kMetadata =
    "{\"file_name\": \"10_a.jpg\", \"text\": [\"A child in a pink dress .\", \"A girl, \\\"going\\\" "
    "inside\"]}\n"
    "{\"text\": \"Two dogs .\", \"height\": [3], \"file_name\": \"9_b.jpg\"}\n";
constexpr const char* kCaptionList =
    R"([{"image": "10_a.jpg", "caption": "A child in a pink dress ."}, {"image": "9_b.jpg", "caption": []},
 {"caption": "A girl, \"going\" inside", "image": "10_a.jpg"}, {"image": "9_b.jpg", "caption": "Two dogs ."}])";
constexpr const char* kKarpathy =
    R"({"images": [{"sentids": [0, 1], "imgid": 7, "sentences": [{"tokens": ["a"], "raw": "A child in a pink dress ."},
 {"raw": "A girl, \"going\" inside", "sentid": 1}], "split": "restval", "filename": "10_a.jpg"},
 {"filename": "9_b.jpg", "imgid": 8, "cocoid": 99, "split": "test", "sentences": [{"raw": "Two dogs ."}]}], "dataset": "x"})";

CaptionFile parse_caption_text(std::string_view text) {
  return parse_captions(to_bytes(text), "file");
}
void try_captions(std::span<const std::byte> bytes) {
  parse_captions(bytes, "file");
}

std::vector<std::string> captions_of_image(const CaptionFile& file, size_t image) {
  std::vector<std::string> captions;
  for (const uint32_t i : file.captions.of(file.images.image(image)))
    captions.emplace_back(file.captions.text(i));
  return captions;
}

TEST(NamedCaptions, AreEqualInEveryFormat) {
  for (const char* text : {kFlickr8k, kKaggle, kFlickr30k, kMetadata, kCaptionList, kKarpathy}) {
    const CaptionFile file = parse_caption_text(text);
    ASSERT_EQ(file.images.size(), 2u) << text;
    EXPECT_EQ(file.images.text(0), "10_a.jpg") << text;
    EXPECT_EQ(file.images.text(1), "9_b.jpg") << text;
    EXPECT_THAT(captions_of_image(file, 0),
                ElementsAre("A child in a pink dress .", "A girl, \"going\" inside"))
        << text;
    EXPECT_THAT(captions_of_image(file, 1), ElementsAre("Two dogs .")) << text;
    EXPECT_EQ(file.left_out, "") << text;
    EXPECT_EQ(file.counted, text != kKarpathy) << text;
  }
}

TEST(NamedCaptions, HaveIdsOrAreCounted) {
  const CaptionFile lines = parse_caption_text(kFlickr8k), karpathy = parse_caption_text(kKarpathy);
  EXPECT_EQ(lines.images.image(0), 1);
  EXPECT_EQ(lines.images.image(1), 2);
  EXPECT_EQ(lines.image_name(1), "9_b.jpg");
  EXPECT_EQ(lines.caption_place(2), "line 3");
  EXPECT_EQ(parse_caption_text(kKaggle).caption_place(2), "line 4");
  EXPECT_EQ(karpathy.images.image(0), 7);
  EXPECT_EQ(karpathy.images.image(1), 99);
  EXPECT_EQ(karpathy.image_name(1), "image 99");
  EXPECT_EQ(karpathy.caption_place(2), "sentences[2]");
}

TEST(NamedCaptions, HaveTheSplitsOfTheFile) {
  EXPECT_THAT(parse_caption_text(kKarpathy).splits, ElementsAre("train", "test"));
  EXPECT_TRUE(parse_caption_text(kMetadata).splits.empty());
  EXPECT_THAT(parse_caption_text(
                  R"([{"image": "a.jpg", "caption": "x"}, {"image": "b.jpg", "caption": "x", "split": "val"},
                        {"image": "c.jpg", "caption": "x"}])")
                  .splits,
              ElementsAre("", "validation", ""));
}

TEST(NamedCaptions, LeaveOutBrokenRowsWithTheirNumber) {
  // Line 19,999 of the published results.csv lacks a delimiter.
  const CaptionFile file =
      parse_caption_text(std::string(kFlickr30k) + "2199200615.jpg| 4   A dog runs .\n9_b.jpg| 1| Dogs .\n");
  EXPECT_EQ(file.left_out, "1 row with another number of cells than the first, the first is line 5");
  EXPECT_THAT(captions_of_image(file, 1), ElementsAre("Two dogs .", "Dogs ."));
}

TEST(NamedCaptions, TakeOtherDelimitersAndNames) {
  for (const char* text :
       {"file_name;text\na.png;x\n", "n\timage\tcaption\n1\ta.png\tx\n", "caption|image_path\nx|a.png"})
    EXPECT_EQ(parse_caption_text(text).captions.text(0), "x") << text;
}

TEST(NamedCaptions, RefusesWithThePlace) {
  const std::string others =
      "file: not a file of captions that modewise reads: Karpathy's JSON (dataset_flickr8k.json); COCO's "
      "JSON "
      "(captions_train2017.json); a JSON list of {\"image\", \"caption\"}; JSON Lines of {\"file_name\", "
      "\"text\"} "
      "(metadata.jsonl); lines of image.jpg#0 and a caption after a tab (Flickr8k.token.txt); a table with "
      "the "
      "columns image and caption (captions.txt, results.csv)";
  expect_refused(
      try_captions,
      {{"empty", "", others},
       {"other columns", "picture,words\na.jpg,x\n", others},
       {"a header alone", "image,caption\n", "file: a header without rows"},
       {"no image", "image,caption\n,x\n", "file:2: the file name of the image is empty"},
       {"an open quote", "image,caption\na.jpg,\"x\n", "file:2: unclosed quote in cell 2"},
       {"no number", "a.jpg#0\tx\nb.jpg\ty\n",
        "file:2: expected the file name of an image with # and a number, got 'b.jpg'"},
       {"three cells", "a.jpg#0\tx\ty\n", "file:1: expected an image and a caption after a tab, got 3 cells"},
       {"no caption", R"([{"image": "a.jpg", "caption": "x"}, {"image": "b.jpg"}])",
        "file: [1] (byte 37) has no \"caption\" or \"text\""},
       {"no name", R"([{"image": "a.jpg", "caption": "x"}, {"caption": "b.jpg"}])",
        "file: [1] (byte 37) has no \"image\" or \"file_name\""},
       {"two names", R"([{"image": "a.jpg", "caption": "x", "file_name": "b.jpg"}])",
        "file: [0] (byte 1) has \"file_name\" twice"},
       {"a number", R"([{"image": "a.jpg", "caption": 3}])",
        "file: [0] (byte 1) needs a text as \"caption\""},
       {"another split", R"([{"image": "a.jpg", "caption": "x", "split": "holdout"}])",
        "file: [0] (byte 1) has the split 'holdout'; expected train, val or test"},
       {"two splits",
        R"([{"image": "a.jpg", "caption": "x", "split": "train"}, {"image": "a.jpg", "caption": "x", "split": "val"}])",
        "file: [1] (byte 55) has another split than an earlier entry of its image"},
       {"more text", "{\"file_name\": \"a.jpg\", \"text\": \"x\"}\nx",
        "file: [1] (byte 36) must be an object"},
       {"no sentences of texts", R"({"images": [{"filename": "a.jpg", "imgid": 1, "sentences": [3]}]})",
        "file: images[0] (byte 12) needs objects in \"sentences\""},
       {"no raw", R"({"images": [{"filename": "a.jpg", "imgid": 1, "sentences": [{"tokens": []}]}]})",
        "file: images[0] (byte 12) has a sentence without \"raw\""},
       {"no filename", R"({"images": [{"imgid": 1, "sentences": []}]})",
        "file: images[0] (byte 12) has no \"filename\""},
       {"no imgid", R"({"images": [{"filename": "a.jpg", "sentences": []}]})",
        "file: images[0] (byte 12) has no \"imgid\""},
       {"an image twice",
        R"({"images": [{"filename": "a", "imgid": 1, "sentences": []}, {"filename": "b", "imgid": 1}]})",
        "file: images[1]: image 1 is a duplicate of [0]"}});
}

TEST(NamedCaptions, RefusesEveryTruncationOfJson) {
  expect_every_truncation_fails(try_captions, kCaptionList);
  expect_every_truncation_fails(try_captions, kKarpathy);
}

TEST(NamedCaptions, SurvivesEveryTruncationAndFlip) {
  for (const std::string text : {kFlickr8k, kKaggle, kFlickr30k, kMetadata, kCaptionList, kKarpathy}) {
    for (size_t length = 0; length < text.size(); ++length) message_of(try_captions, text.substr(0, length));
    expect_flips_are_clean(try_captions, text);
  }
}

TEST(NamedCaptions, RefusesEndlessNesting) {
  EXPECT_THAT(
      message_of(try_captions, R"([{"image": "a", "caption": "b", "c": )" + std::string(1 << 20, '[')),
      HasSubstr("nested deeper than 512"));
}

}  // namespace
}  // namespace modewise::io
