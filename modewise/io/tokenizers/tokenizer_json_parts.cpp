#include "modewise/io/tokenizers/tokenizer_json_parts.h"

#include <fmt/format.h>

#include <array>
#include <functional>

#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

using Step = TokenizerJson::Step;

constexpr size_t kMostSteps = 64;
constexpr size_t kLongestPattern = 1 << 16;
constexpr int kDeepestSequence = 16;

[[noreturn]] void refuse(JsonScanner& json, std::string_view part, const std::string& type) {
  json.wrong(fmt::format("the {} {} cannot be read", part, quote_for_message(type)));
}

// Members that only matter elsewhere (offsets, training) are passed over.
void skip_members(JsonScanner& json, std::string_view what) {
  json.object(what, [&](const std::string&) { json.skip(); });
}

// Calls `one` for each element of the array `key` of a Sequence.
void sequence(JsonScanner& json, std::string_view key, const std::function<void()>& one) {
  json.object("at the start of a Sequence", [&](const std::string& name) {
    if (name != key) {
      json.skip();
      return;
    }
    json.array("at the start of a list", one);
  });
}

void check_depth(JsonScanner& json, int depth) {
  if (depth > kDeepestSequence)
    json.wrong(fmt::format("Sequences are nested deeper than {}", kDeepestSequence));
}

void normalizer(JsonScanner& json, int depth) {
  check_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type != "Sequence")
    json.wrong(fmt::format("the normalizer {} changes text before it is split, which cannot be read{}",
                           quote_for_message(type),
                           type == "Prepend" || type == "Replace"
                               ? "; the file was made from a sentencepiece model: take its tokenizer.model"
                               : ""));
  sequence(json, "normalizers", [&] { normalizer(json, depth + 1); });
}

void decoder(JsonScanner& json, int depth) {
  check_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "ByteLevel")
    skip_members(json, "at the start of the decoder");
  else if (type == "Sequence")
    sequence(json, "decoders", [&] { decoder(json, depth + 1); });
  else
    refuse(json, "decoder", type);
}

std::string pattern_text(JsonScanner& json) {
  const size_t at = json.position();
  std::string pattern = json.decode(json.string());
  if (pattern.size() > kLongestPattern || pattern.empty())
    json.wrong_at(
        at, fmt::format("the pattern has {} bytes; 1 to {} are accepted", pattern.size(), kLongestPattern));
  return pattern;
}

Step::Behavior behavior(JsonScanner& json) {
  static constexpr std::array<std::string_view, 5> kNames = {"Isolated", "Removed", "MergedWithPrevious",
                                                             "MergedWithNext", "Contiguous"};
  const size_t at = json.position();
  const std::string name = json.decode(json.string());
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<Step::Behavior>(i);
  }
  json.wrong_at(at, fmt::format("the behavior {} is unknown", quote_for_message(name)));
}

Step split(JsonScanner& json) {
  Step step;
  step.kind = Step::Kind::split;
  json.object("at the start of Split", [&](const std::string& key) {
    if (key == "pattern") {
      json.object("at the start of a pattern", [&](const std::string& kind) {
        if (kind != "Regex" && kind != "String")
          json.wrong(fmt::format("the pattern {} is none of Regex and String", quote_for_message(kind)));
        step.literal = kind == "String";
        step.pattern = pattern_text(json);
      });
    } else if (key == "behavior") {
      step.behavior = behavior(json);
    } else if (key == "invert") {
      step.invert = json.boolean();
    } else {
      json.skip();
    }
  });
  if (step.pattern.empty()) json.wrong("the Split that ends here has no pattern");
  return step;
}

Step byte_level(JsonScanner& json) {
  Step step;
  step.add_prefix_space = true;  // the defaults of the format
  json.object("at the start of ByteLevel", [&](const std::string& key) {
    if (key == "add_prefix_space")
      step.add_prefix_space = json.boolean();
    else if (key == "use_regex")
      step.gpt2_pattern = json.boolean();
    else
      json.skip();
  });
  return step;
}

Step digits(JsonScanner& json) {
  Step step;
  step.kind = Step::Kind::digits;
  json.object("at the start of Digits", [&](const std::string& key) {
    if (key == "individual_digits")
      step.individual_digits = json.boolean();
    else
      json.skip();
  });
  return step;
}

void pre_tokenizer(JsonScanner& json, std::vector<Step>& steps, int depth) {
  check_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    sequence(json, "pretokenizers", [&] { pre_tokenizer(json, steps, depth + 1); });
    return;
  }
  if (steps.size() == kMostSteps)
    json.wrong(fmt::format("the pre_tokenizer has more than {} steps", kMostSteps));
  if (!steps.empty() && steps.back().kind == Step::Kind::byte_level)
    json.wrong(fmt::format("the pre_tokenizer {} follows ByteLevel, which must be the last",
                           quote_for_message(type)));
  if (type == "ByteLevel")
    steps.push_back(byte_level(json));
  else if (type == "Split")
    steps.push_back(split(json));
  else if (type == "Digits")
    steps.push_back(digits(json));
  else
    refuse(json, "pre_tokenizer", type);
}

// Places of the marks in a template: [{"SpecialToken": {"id": "<s>", …}}, {"Sequence": {…}}, …].
void single_template(JsonScanner& json, std::string& before, std::string& after) {
  bool text_seen = false;
  json.array("at the start of a template", [&] {
    json.object("at the start of a template's item", [&](const std::string& kind) {
      if (kind == "Sequence") {
        text_seen = true;
        json.skip();
        return;
      }
      json.object("at the start of a template's mark", [&](const std::string& key) {
        if (key != "id") {
          json.skip();
          return;
        }
        std::string& mark = text_seen ? after : before;
        const std::string name = json.decode(json.string());
        if (mark.empty()) mark = name;
      });
    });
  });
}

void template_processing(JsonScanner& json, TokenizerJson& tokenizer) {
  std::string before, after;
  const size_t begin = json.position();
  json.object("at the start of TemplateProcessing", [&](const std::string& key) {
    if (key == "single")
      single_template(json, before, after);
    else
      json.skip();
  });
  // The marks' ids stand in another member, which may come first.
  json.go_to(begin);
  json.object("at the start of TemplateProcessing", [&](const std::string& key) {
    if (key != "special_tokens") {
      json.skip();
      return;
    }
    json.object("at the start of special_tokens", [&](const std::string& name) {
      json.object("at the start of a special token", [&](const std::string& member) {
        if (member != "ids") {
          json.skip();
          return;
        }
        json.array("at the start of ids", [&] {
          const size_t at = json.position();
          const int64_t id = json.integer("an id");
          if (id < 0 || id >= tokenizer.size)
            json.wrong_at(at,
                          fmt::format("the id {} is none of the {} of the vocabulary", id, tokenizer.size));
          if (name == before && !tokenizer.begin) tokenizer.begin = static_cast<int32_t>(id);
          if (name == after && !tokenizer.end) tokenizer.end = static_cast<int32_t>(id);
        });
      });
    });
  });
}

// [text, id]
int32_t named_id(JsonScanner& json, int32_t size) {
  json.expect('[', "before a mark");
  json.string();
  json.expect(',', "after a mark's text");
  const size_t at = json.position();
  const int64_t id = json.integer("an id");
  if (id < 0 || id >= size)
    json.wrong_at(at, fmt::format("the id {} is none of the {} of the vocabulary", id, size));
  json.expect(']', "after a mark");
  return static_cast<int32_t>(id);
}

void post_processor(JsonScanner& json, TokenizerJson& tokenizer, int depth) {
  check_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    sequence(json, "processors", [&] { post_processor(json, tokenizer, depth + 1); });
  } else if (type == "ByteLevel") {
    skip_members(json, "at the start of the post_processor");
  } else if (type == "TemplateProcessing") {
    template_processing(json, tokenizer);
  } else if (type == "RobertaProcessing" || type == "BertProcessing") {
    json.object("at the start of the post_processor", [&](const std::string& key) {
      if (key == "cls")
        tokenizer.begin = named_id(json, tokenizer.size);
      else if (key == "sep")
        tokenizer.end = named_id(json, tokenizer.size);
      else
        json.skip();
    });
  } else {
    refuse(json, "post_processor", type);
  }
}

}  // namespace

std::string peek_type(JsonScanner& json) {
  const size_t begin = json.position();
  std::string type;
  if (!json.take_null()) {
    json.object("or null", [&](const std::string& key) {
      if (key == "type")
        type = json.decode(json.string());
      else
        json.skip();
    });
  }
  json.go_to(begin);
  return type;
}

void parse_normalizer(JsonScanner& json) {
  normalizer(json, 0);
}
void parse_decoder(JsonScanner& json) {
  decoder(json, 0);
}
void parse_pre_tokenizer(JsonScanner& json, std::vector<Step>& steps) {
  pre_tokenizer(json, steps, 0);
}
void parse_post_processor(JsonScanner& json, TokenizerJson& tokenizer) {
  post_processor(json, tokenizer, 0);
}

}  // namespace modewise::io
