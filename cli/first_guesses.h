#pragma once
// First guesses: words that people know from other programs, and the command, option or setting that does
// the same here.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::cli {

/// `modewise help train` as `modewise train --help`; other command lines come back as they are.
std::vector<std::string> with_help_option(std::vector<std::string> command_line);

/// Hint for an unknown argument: " (modewise evaluate RUN evaluates a run)" for the command `eval`, commands
/// for the name of a file, and after a command with these keys " (--set train.epochs=3 sets it)" for
/// `epochs=3`; else "".
std::string argument_hint(std::string_view word, const std::vector<std::string>& settings);

/// " (--set forecast.horizon=24 sets it)" for the unknown option --pred-len of a command with these keys;
/// `value` is that of the command line or "". " (the option is --out)" if one of the command's `options` does
/// the same. "" if no option or key has such a name.
std::string option_hint(std::string_view option, std::string_view value,
                        const std::vector<std::string>& options, const std::vector<std::string>& settings);

}  // namespace modewise::cli
