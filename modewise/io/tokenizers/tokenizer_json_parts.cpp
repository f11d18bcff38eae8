#include "modewise/io/tokenizers/tokenizer_json_parts.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <optional>

#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

using Step = TokenizerJson::Step;

constexpr size_t kMaxSteps = 64;
constexpr int64_t kMaxTypes = 65535;
constexpr size_t kMaxNames = 1024;
constexpr size_t kLongestPattern = 1 << 16;
constexpr int kDeepestSequence = 16;

// Skips members without effect here (offsets, training).
void skip_members(JsonScanner& json, std::string_view what) {
  json.object(what, [&](const std::string&) { json.skip(); });
}

void normalizer(JsonScanner& json, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type != "Sequence")
    json.wrong(
        fmt::format("the normalizer {} changes text before it is split, which is not supported{}",
                    quote_for_message(type),
                    type == "Prepend" || type == "Replace"
                        ? "; the file was converted from a sentencepiece model: use its tokenizer.model"
                        : ""));
  for_each_of_sequence(json, "normalizers", [&] { normalizer(json, depth + 1); });
}

void decoder(JsonScanner& json, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "ByteLevel")
    skip_members(json, "at the start of the decoder");
  else if (type == "Sequence")
    for_each_of_sequence(json, "decoders", [&] { decoder(json, depth + 1); });
  else
    refuse_part(json, "decoder", type);
}

std::string pattern_text(JsonScanner& json) {
  const size_t at = json.position();
  std::string pattern = json.decode(json.string());
  if (pattern.size() > kLongestPattern || pattern.empty())
    json.wrong_at(at,
                  fmt::format("the pattern has {} bytes; expected 1 to {}", pattern.size(), kLongestPattern));
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
  json.wrong_at(at, fmt::format("unknown behavior {}", quote_for_message(name)));
}

Step split(JsonScanner& json) {
  Step step;
  step.kind = Step::Kind::split;
  json.object("at the start of Split", [&](const std::string& key) {
    if (key == "pattern") {
      json.object("at the start of a pattern", [&](const std::string& kind) {
        if (kind != "Regex" && kind != "String")
          json.wrong(fmt::format("unknown pattern {}, expected Regex or String", quote_for_message(kind)));
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
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "pretokenizers", [&] { pre_tokenizer(json, steps, depth + 1); });
    return;
  }
  if (steps.size() == kMaxSteps)
    json.wrong(fmt::format("the pre_tokenizer has more than {} steps", kMaxSteps));
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
    refuse_part(json, "pre_tokenizer", type);
}

struct NamedItem {
  TemplateItem item;
  std::string name;  // of a special token
};

// A template: [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, …].
std::vector<NamedItem> template_items(JsonScanner& json) {
  std::vector<NamedItem> items;
  json.array("at the start of a template", [&] {
    if (items.size() == kMaxSteps) json.wrong(fmt::format("a template has more than {} items", kMaxSteps));
    json.object("at the start of a template's item", [&](const std::string& kind) {
      NamedItem& one = items.emplace_back();
      json.object("at the start of a template's special token", [&](const std::string& key) {
        if (key == "id") {
          one.name = json.decode(json.string());
        } else if (key == "type_id") {
          const size_t at = json.position();
          const int64_t type = json.integer("a type_id");
          if (type < 0 || type > kMaxTypes)
            json.wrong_at(at, fmt::format("type_id {} is outside 0 to {}", type, kMaxTypes));
          one.item.type = static_cast<int32_t>(type);
        } else {
          json.skip();
        }
      });
      if (kind != "Sequence") return;
      one.item.kind = one.name == "B" ? TemplateItem::Kind::second : TemplateItem::Kind::first;
    });
  });
  return items;
}

// The ids of each special token by its name.
std::map<std::string, std::vector<int32_t>> special_ids(JsonScanner& json, int32_t size) {
  std::map<std::string, std::vector<int32_t>> out;
  json.object("at the start of special_tokens", [&](const std::string& name) {
    if (out.size() == kMaxNames)
      json.wrong(fmt::format("a template has more than {} special_tokens", kMaxNames));
    json.object("at the start of a special token", [&](const std::string& member) {
      if (member != "ids") {
        json.skip();
        return;
      }
      json.array("at the start of ids", [&] {
        const size_t at = json.position();
        const int64_t id = json.integer("an id");
        if (id < 0 || id >= size)
          json.wrong_at(at, fmt::format("id {} is outside the vocabulary of {} ids", id, size));
        std::vector<int32_t>& ids = out[name];
        if (ids.size() == kMaxSteps) json.wrong_at(at, "a special token has too many ids");
        ids.push_back(static_cast<int32_t>(id));
      });
    });
  });
  return out;
}

// The special tokens before and after the text of the single template begin and end texts.
void take_ends(TokenizerJson& tokenizer) {
  bool text_seen = false;
  for (const TemplateItem& item : tokenizer.around.single) {
    text_seen = text_seen || item.kind != TemplateItem::Kind::mark;
    if (item.kind != TemplateItem::Kind::mark) continue;
    std::optional<int32_t>& end = text_seen ? tokenizer.end : tokenizer.begin;
    if (!end) end = item.mark;
  }
}

void template_processing(JsonScanner& json, TokenizerJson& tokenizer) {
  std::vector<NamedItem> single, pair;
  std::map<std::string, std::vector<int32_t>> ids;
  json.object("at the start of TemplateProcessing", [&](const std::string& key) {
    if (key == "single")
      single = template_items(json);
    else if (key == "pair")
      pair = template_items(json);
    else if (key == "special_tokens")
      ids = special_ids(json, tokenizer.size);
    else
      json.skip();
  });
  const auto known = [&](const std::vector<NamedItem>& items) {
    std::vector<TemplateItem> out;
    for (const NamedItem& one : items) {
      if (one.item.kind != TemplateItem::Kind::mark) {
        out.push_back(one.item);
        continue;
      }
      const auto marks = ids.find(one.name);
      if (marks == ids.end())
        json.wrong(
            fmt::format("the template above has the special token {}, which is not in its special_tokens",
                        quote_for_message(one.name)));
      for (const int32_t id : marks->second) out.push_back({TemplateItem::Kind::mark, id, one.item.type});
    }
    return out;
  };
  tokenizer.around = {known(single), known(pair)};
  take_ends(tokenizer);
}

// [text, id]
int32_t named_id(JsonScanner& json, int32_t size) {
  json.expect('[', "before a special token");
  json.string();
  json.expect(',', "after the text of a special token");
  const size_t at = json.position();
  const int64_t id = json.integer("an id");
  if (id < 0 || id >= size)
    json.wrong_at(at, fmt::format("id {} is outside the vocabulary of {} ids", id, size));
  json.expect(']', "after a special token");
  return static_cast<int32_t>(id);
}

void post_processor(JsonScanner& json, TokenizerJson& tokenizer, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "processors", [&] { post_processor(json, tokenizer, depth + 1); });
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
    if (!tokenizer.begin || !tokenizer.end)
      json.wrong(fmt::format("the post_processor {} that ends here needs cls and sep", type));
    tokenizer.around = type == "BertProcessing" ? bert_template(*tokenizer.begin, *tokenizer.end)
                                                : roberta_template(*tokenizer.begin, *tokenizer.end);
  } else {
    refuse_part(json, "post_processor", type);
  }
}

void bert_normalizer(JsonScanner& json, WordPieceRules& rules, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "normalizers", [&] { bert_normalizer(json, rules, depth + 1); });
    return;
  }
  if (type != "BertNormalizer" || rules.normalizing) refuse_part(json, "normalizer", type);
  BertNormalizing& how = rules.normalizing.emplace();
  std::optional<bool> strip;
  json.object("at the start of the normalizer", [&](const std::string& key) {
    if (key == "clean_text")
      how.clean_text = json.boolean();
    else if (key == "handle_chinese_chars")
      how.space_chinese = json.boolean();
    else if (key == "lowercase")
      how.lower_case = json.boolean();
    else if (key == "strip_accents" && !json.take_null())
      strip = json.boolean();
    else if (key != "strip_accents")
      json.skip();
  });
  how.strip_accents = strip.value_or(how.lower_case);
}

void bert_pre_tokenizer(JsonScanner& json, int depth, int& count) {
  check_sequence_depth(json, depth);
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "pretokenizers", [&] { bert_pre_tokenizer(json, depth + 1, count); });
    return;
  }
  if (type != "BertPreTokenizer") refuse_part(json, "pre_tokenizer", type);
  skip_members(json, "at the start of the pre_tokenizer");
  ++count;
}

}  // namespace

void refuse_part(JsonScanner& json, std::string_view part, const std::string& type) {
  json.wrong(fmt::format("unsupported {} {}", part, quote_for_message(type)));
}

void for_each_of_sequence(JsonScanner& json, std::string_view key, const std::function<void()>& one) {
  json.object("at the start of a Sequence", [&](const std::string& name) {
    if (name != key) {
      json.skip();
      return;
    }
    json.array("at the start of a list", one);
  });
}

void check_sequence_depth(JsonScanner& json, int depth) {
  if (depth > kDeepestSequence)
    json.wrong(fmt::format("Sequences are nested deeper than {}", kDeepestSequence));
}

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
void parse_bert_normalizer(JsonScanner& json, WordPieceRules& rules) {
  bert_normalizer(json, rules, 0);
}
void parse_bert_pre_tokenizer(JsonScanner& json) {
  int count = 0;
  bert_pre_tokenizer(json, 0, count);
  if (count != 1) json.wrong("WordPiece needs the pre_tokenizer 'BertPreTokenizer' once");
}
void parse_post_processor(JsonScanner& json, TokenizerJson& tokenizer) {
  post_processor(json, tokenizer, 0);
}

}  // namespace modewise::io
