#pragma once
// Escapes for all text that leaves the program: terminal, logs, error sentences, CSV, scripts, JSON. Names
// and messages may contain text of users' files and folders; printed raw, ESC sequences control the terminal
// and bidirectional characters reorder the text. HTML has its own escape (report/markup.h).

#include <cstddef>
#include <string>
#include <string_view>

namespace modewise {

/// Whether a character is printed as an escape: control characters (C0, DEL, C1), characters of Unicode's
/// property Bidi_Control, line and paragraph separators, and noncharacters at the end of the first plane.
bool is_unsafe(char32_t code_point);

/// Line feeds and tabs of a text: kept, for texts of several lines, or escaped, for one line.
enum class LineBreaks { kept, escaped };

/// `text` with each unsafe character as \xNN (below 128) or \uNNNN, and each byte that is not valid UTF-8 as
/// \xNN. A backslash stays as it is, so escaping twice changes nothing.
std::string escape_text(std::string_view text, LineBreaks breaks = LineBreaks::escaped);

/// JSON text with each unsafe character as \uNNNN; line feeds and tabs between values stay. The document
/// stays equal, since JSON allows these characters within strings alone.
std::string escape_json_text(std::string_view json);

/// At most `limit` bytes of `text` in quotes for an error message, escaped, cut between characters.
std::string quote_for_message(std::string_view text, size_t limit = 40);

/// `text` quoted as one word of a POSIX shell.
std::string shell_word(const std::string& text);
/// `text` quoted as one word of bash without unsafe characters: 'a b', or $'a\x0ab'.
std::string bash_word(const std::string& text);
/// bash_word of a text that must be quoted, in commands that a message suggests; other texts as they are.
std::string command_word(const std::string& text);

}  // namespace modewise
