#include "modewise/io/tokenizers/sentencepiece_model.h"

#include <fmt/format.h>
#include "modewise/io/file_kind.h"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cmath>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/io/tokenizers/character_map.h"
#include "modewise/io/tokenizers/llama2c_tokenizer.h"
#include "modewise/io/tokenizers/wire_reader.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

using Type = SentencePieceModel::Type;
using Field = WireReader::Field;

class SentencePieceParser {
 public:
  SentencePieceParser(std::span<const std::byte> bytes, const std::string& source)
      : source_(source), file_({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0, source) {
    model_.pieces = TokenTable(bytes.size());
  }

  SentencePieceModel parse() {
    Field field;
    while (file_.next(field)) {
      switch (field.number) {
        case 1:
          parse_piece(file_.inside(field), field.at);
          break;
        case 2:
          once(has_trainer_, field, "trainer_spec");
          parse_trainer(file_.inside(field));
          break;
        case 3:
          once(has_normalizer_, field, "normalizer_spec");
          parse_normalizer(file_.inside(field));
          break;
        case 5:
          parse_denormalizer(file_.inside(field));
          break;
        default:
          break;  // self tests, extensions
      }
    }
    check();
    return std::move(model_);
  }

 private:
  void once(bool& seen, const Field& field, std::string_view what) const {
    if (seen) file_.wrong(field.at, fmt::format("duplicate field {}", what));
    seen = true;
  }

  void parse_piece(WireReader message, size_t at) {
    const int32_t id = model_.pieces.size();
    std::string_view text;
    float score = 0;
    uint64_t type = 1;
    for (Field field; message.next(field);) {
      if (field.number == 1) text = message.text(field);
      if (field.number == 2) score = message.number(field);
      if (field.number == 3) type = message.integer(field);
    }
    const auto wrong = [&](const std::string& what) {
      file_.wrong(at, fmt::format("piece {} {}", id, what));
    };
    if (id >= TokenTable::kMaxTokens)
      wrong(fmt::format("exceeds the limit of {} pieces", TokenTable::kMaxTokens));
    if (text.empty()) wrong("has no text");
    if (std::cmp_greater(text.size(), TokenTable::kLongestPiece))
      wrong(fmt::format("has {} bytes; the limit is {}", text.size(), TokenTable::kLongestPiece));
    if (!std::isfinite(score)) wrong(fmt::format("has the score {}; expected a finite number", score));
    if (type < 1 || type > 6) wrong(fmt::format("has the unknown type {}; expected 1 to 6", type));
    if (const auto earlier = model_.pieces.find(text))
      wrong(fmt::format("{} is a duplicate of piece {}", quote_for_message(text), *earlier));
    model_.pieces.add(id, text);
    model_.scores.push_back(score);
    model_.types.push_back(static_cast<Type>(type));
  }

  void parse_trainer(WireReader message) {
    for (Field field; message.next(field);) {
      switch (field.number) {
        case 3: {
          static constexpr std::string_view kNames[] = {"", "", "", " word", " char"};
          const uint64_t algorithm = message.integer(field);
          if (algorithm != 1 && algorithm != 2) {
            file_.wrong(field.at,
                        fmt::format("the model is of type {}{}; unigram (1) and bpe (2) are supported",
                                    algorithm, algorithm < 5 ? kNames[algorithm] : ""));
          }
          model_.algorithm = static_cast<SentencePieceModel::Algorithm>(algorithm);
          break;
        }
        case 24:
          model_.whitespace_as_suffix = message.boolean(field);
          break;
        case 35:
          model_.byte_fallback = message.boolean(field);
          break;
        case 44:
          model_.unknown_text = message.text(field);
          break;
        case 46:
          begin_ = message.text(field);
          break;
        case 47:
          end_ = message.text(field);
          break;
        case 48:
          pad_ = message.text(field);
          break;
        case 53:
          if (!message.text(field).empty())
            file_.wrong(field.at, "the model was trained with a custom delimiter, which is not supported");
          break;
        default:
          break;
      }
    }
  }

  void parse_normalizer(WireReader message) {
    for (Field field; message.next(field);) {
      switch (field.number) {
        case 1:
          model_.normalizer = message.text(field);
          break;
        case 2:
          if (field.kind != WireReader::Kind::bytes) file_.wrong(field.at, "the character map must be bytes");
          if (!field.bytes.empty()) check_character_map(field.bytes, source_);
          model_.character_map = field.bytes;
          break;
        case 3:
          model_.add_dummy_prefix = message.boolean(field);
          break;
        case 4:
          model_.remove_extra_whitespaces = message.boolean(field);
          break;
        case 5:
          model_.escape_whitespaces = message.boolean(field);
          break;
        default:
          break;
      }
    }
  }

  void parse_denormalizer(WireReader message) const {
    for (Field field; message.next(field);) {
      if (field.number == 2 && !field.bytes.empty())
        file_.wrong(field.at,
                    "the model changes text after decoding (denormalizer_spec), which is not supported");
    }
  }

  // The id of the control piece `text`; -1 if there is none.
  int32_t control(std::string_view text) const {
    const auto id = model_.pieces.find(text);
    return id && model_.types[static_cast<size_t>(*id)] == Type::control ? *id : -1;
  }

  void check() {
    require(has_trainer_ && has_normalizer_, ErrorKind::data,
            "{}: not a sentencepiece model, or truncated: it has no {}", source_,
            has_trainer_ ? "normalizer_spec" : "trainer_spec");
    std::bitset<256> bytes;
    int32_t unknown = -1;
    for (int32_t id = 0; id < model_.pieces.size(); ++id) {
      const std::string_view text = model_.pieces[id];
      const Type type = model_.types[static_cast<size_t>(id)];
      if (type == Type::unknown) {
        require(unknown < 0, ErrorKind::data,
                "{}: pieces {} and {} are both of the type unknown; expected one", source_, unknown, id);
        unknown = id;
      }
      require(type != Type::unused || model_.algorithm == SentencePieceModel::Algorithm::unigram,
              ErrorKind::data,
              "{}: piece {}, {}, is of the type unused, which is supported in unigram models only", source_,
              id, quote_for_message(text));
      if (type == Type::byte) bytes.set(byte_value(id, text));
    }
    require(unknown >= 0, ErrorKind::data, "{}: no piece is of the type unknown; expected one", source_);
    require(!model_.byte_fallback || bytes.all(), ErrorKind::data,
            "{}: the model has byte_fallback, but only {} of the 256 byte pieces", source_, bytes.count());
    model_.unknown = unknown;
    model_.begin = control(begin_);
    model_.end = control(end_);
    model_.pad = control(pad_);
  }

  size_t byte_value(int32_t id, std::string_view text) const {
    unsigned value = 256;
    if (text.size() == 6) std::from_chars(text.data() + 3, text.data() + 5, value, 16);
    require(model_.byte_fallback, ErrorKind::data,
            "{}: piece {} is of the type byte, but byte_fallback is off", source_, id);
    require(value < 256 && text == byte_piece(static_cast<int>(value)), ErrorKind::data,
            "{}: piece {}, {}, is of the type byte, which must be written as <0x00> to <0xFF>", source_, id,
            quote_for_message(text));
    return value;
  }

  const std::string& source_;
  WireReader file_;
  SentencePieceModel model_;
  bool has_trainer_ = false, has_normalizer_ = false;
  std::string_view begin_ = "<s>", end_ = "</s>", pad_ = "<pad>";
};

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> bytes, const std::string& source) {
  if (!bytes.empty() && bytes[0] != std::byte{'\n'})
    refuse_other_kind(bytes, source, "a sentencepiece model");
  return SentencePieceParser(bytes, source).parse();
}

}  // namespace modewise::io
