// Components of a tokenizer.json converted from sentencepiece: older files have the normalizers Prepend and
// Replace, newer ones the pre-tokenizer Metaspace.

#include <fmt/format.h>

#include <string>

#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "modewise/io/tokenizers/tokenizer_json_parts.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

using Prepend = MetaspaceRules::Prepend;

// The String of a pattern {"String": " "}.
std::string literal_pattern(JsonScanner& json) {
  std::string text;
  json.object("at the start of a pattern", [&](const std::string& kind) {
    if (kind != "String") json.wrong("expected the pattern of Replace to be a String");
    text = json.decode(json.string());
  });
  return text;
}

// Reads Replace and requires that it replaces `from` by `to`.
void expect_replace(JsonScanner& json, std::string_view from, std::string_view to) {
  const size_t at = json.position();
  std::string pattern, content;
  json.object("at the start of Replace", [&](const std::string& key) {
    if (key == "pattern")
      pattern = literal_pattern(json);
    else if (key == "content")
      content = json.decode(json.string());
    else
      json.skip();
  });
  if (pattern != from || content != to)
    json.wrong_at(
        at, fmt::format("Replace of {} by {} is not supported, only of {} by {}", quote_for_message(pattern),
                        quote_for_message(content), quote_for_message(from), quote_for_message(to)));
}

void normalizer(JsonScanner& json, MetaspaceParts& parts, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "normalizers", [&] { normalizer(json, parts, depth + 1); });
  } else if (type == "Prepend") {
    json.object("at the start of Prepend", [&](const std::string& key) {
      if (key == "type") {
        json.skip();
        return;
      }
      if (key != "prepend" || json.decode(json.string()) != kSpacePiece)
        json.wrong("expected Prepend of '\u2581'");
    });
    if (parts.rules.prepend != Prepend::none) json.wrong("two normalizers prepend a space");
    parts.rules.prepend = Prepend::always;
  } else if (type == "Replace") {
    expect_replace(json, " ", kSpacePiece);
    parts.replaces = parts.rules.normalizes = true;
  } else {
    refuse_part(json, "normalizer", type);
  }
}

Prepend prepend_scheme(JsonScanner& json) {
  const size_t at = json.position();
  const std::string name = json.decode(json.string());
  if (name == "always") return Prepend::missing;
  if (name == "first") return Prepend::first;
  if (name != "never") json.wrong_at(at, fmt::format("unknown prepend_scheme {}", quote_for_message(name)));
  return Prepend::none;
}

// Reads Metaspace and returns what it prepends.
Prepend metaspace(JsonScanner& json, bool& split) {
  Prepend prepend = Prepend::missing;  // the defaults of the format
  split = true;
  json.object("at the start of Metaspace", [&](const std::string& key) {
    const size_t at = json.position();
    if (key == "replacement") {
      if (json.decode(json.string()) != kSpacePiece)
        json.wrong_at(at, "expected the replacement of Metaspace to be '\u2581'");
    } else if (key == "prepend_scheme") {
      prepend = prepend_scheme(json);
    } else if (key == "add_prefix_space") {  // older files have it instead, or besides
      if (!json.boolean()) prepend = Prepend::none;
    } else if (key == "split") {
      split = json.boolean();
    } else {
      json.skip();
    }
  });
  return prepend;
}

void pre_tokenizer(JsonScanner& json, MetaspaceParts& parts, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "pretokenizers", [&] { pre_tokenizer(json, parts, depth + 1); });
    return;
  }
  if (type != "Metaspace") refuse_part(json, "pre_tokenizer", type);
  const Prepend prepend = metaspace(json, parts.rules.split);
  if (parts.rules.prepend != Prepend::none && prepend != Prepend::none)
    json.wrong("a space is prepended twice, by the pre_tokenizer that ends here and before it");
  if (prepend != Prepend::none) parts.rules.prepend = prepend;
  parts.replaces = true;
}

void decoder(JsonScanner& json, MetaspaceParts& parts, int depth) {
  check_sequence_depth(json, depth);
  if (json.take_null()) return;
  const std::string type = peek_type(json);
  if (type == "Sequence") {
    for_each_of_sequence(json, "decoders", [&] { decoder(json, parts, depth + 1); });
  } else if (type == "Replace") {
    expect_replace(json, kSpacePiece, " ");
  } else if (type == "ByteFallback" || type == "Fuse") {
    json.skip();
  } else if (type == "Metaspace") {
    bool split = false;
    parts.rules.strip_space = metaspace(json, split) != Prepend::none;
  } else if (type == "Strip") {
    json.object("at the start of Strip", [&](const std::string& key) {
      const size_t at = json.position();
      if (key == "start")
        parts.rules.strip_space = json.integer("the start of Strip") > 0;
      else if (key == "stop" ? json.integer("the stop of Strip") != 0
                             : key == "content" && json.decode(json.string()) != " ")
        json.wrong_at(at, "only Strip of spaces at the start is supported");
      else if (key == "type")
        json.skip();
    });
  } else {
    refuse_part(json, "decoder", type);
  }
}

}  // namespace

void parse_metaspace_normalizer(JsonScanner& json, MetaspaceParts& parts) {
  normalizer(json, parts, 0);
}
void parse_metaspace_pre_tokenizer(JsonScanner& json, MetaspaceParts& parts) {
  pre_tokenizer(json, parts, 0);
}
void parse_metaspace_decoder(JsonScanner& json, MetaspaceParts& parts) {
  decoder(json, parts, 0);
}

}  // namespace modewise::io
