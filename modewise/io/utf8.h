#pragma once
// UTF-8 functions of core/utf8.h and core/escaped_text.h, in the namespace of this layer.

#include "modewise/core/escaped_text.h"
#include "modewise/core/utf8.h"

namespace modewise::io {

using modewise::append_utf8;
using modewise::find_invalid_utf8;
using modewise::quote_for_message;
using modewise::utf8_code_point;
using modewise::utf8_length;
using modewise::without_byte_order_mark;

}  // namespace modewise::io
