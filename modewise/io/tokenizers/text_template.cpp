#include "modewise/io/tokenizers/text_template.h"

namespace modewise::io {
namespace {

using Kind = TemplateItem::Kind;

}  // namespace

TextTemplate bert_template(int32_t opening, int32_t closing) {
  TextTemplate out;
  out.single = {{Kind::mark, opening, 0}, {Kind::first, 0, 0}, {Kind::mark, closing, 0}};
  out.pair = out.single;
  out.pair.insert(out.pair.end(), {{Kind::second, 0, 1}, {Kind::mark, closing, 1}});
  return out;
}

TextTemplate roberta_template(int32_t opening, int32_t closing) {
  TextTemplate out;
  out.single = {{Kind::mark, opening, 0}, {Kind::first, 0, 0}, {Kind::mark, closing, 0}};
  out.pair = out.single;
  out.pair.insert(out.pair.end(), {{Kind::mark, closing, 0}, {Kind::second, 0, 0}, {Kind::mark, closing, 0}});
  return out;
}

}  // namespace modewise::io
