#pragma once
// Settings of a run: a file and assignments.

#include <string>
#include <vector>

namespace modewise::tasks {

/// Defaults < `file` < `assignments`.
struct Settings {
  std::string file = {};                      // TOML; "": none
  std::vector<std::string> assignments = {};  // "key=value"
  bool saved = false;                         // `file` is the config.toml of a run folder that is opened
  bool training = false;                      // of a new training: open choices may read the data
  bool of_sweep = false;                      // checked for a sweep, whose runs have settings in common
};

}  // namespace modewise::tasks
