#pragma once
// Texts of other formats, given where a table of delimited cells is expected: JSON, SQL, LaTeX, drawn tables.

#include <string>
#include <string_view>

namespace modewise::io {

/// Throws a data error that names the format of `text` and how to make a table of it, if it begins as such a
/// format does.
void refuse_other_text(std::string_view text, const std::string& source);

}  // namespace modewise::io
