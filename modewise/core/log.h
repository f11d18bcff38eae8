#pragma once
// Logs go to stderr (and to a run's log.txt); results never do. Use spdlog::info and friends. A message is
// one line: text from users' files is escaped (core/escaped_text.h), line breaks included.

#include <string>
#include <string_view>

namespace modewise {

/// verbosity −1 quiet (errors only), 0 normal, 1 debug, 2 trace. Colour obeys NO_COLOR, FORCE_COLOR,
/// CLICOLOR_FORCE, TERM=dumb and whether stderr is a terminal, unless `color` is "always" or "never".
void set_up_logging(int verbosity, const std::string& color = "auto");

/// Appends the log to `path` too, until the next call or the end of the process; "" stops it.
void log_to_file(const std::string& path);

enum class LogLevel { info, warning, error };

/// Logs each line of `text` as a message.
void log_lines(LogLevel level, std::string_view text);

/// Whether stderr is a terminal that can show a live progress bar.
bool stderr_is_terminal();

}  // namespace modewise
