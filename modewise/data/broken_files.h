#pragma once
// Files that cannot be read among many: left out up to a limit, and reported.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::data {

class BrokenFiles {
 public:
  /// `skip_broken`: the largest number of broken files, or below 1 the largest fraction of `files`; `advice`
  /// sets it to 1.
  BrokenFiles(double skip_broken, int64_t files, std::string advice = "data.skip_broken = 1");

  /// Reads one file by `read()`; false if it is broken. The first file's data error is thrown, with the
  /// option, when there are more broken files than allowed.
  template <class Read>
  bool read(const Read& read) {
    try {
      read();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      note(error);
      return false;
    }
    return true;
  }
  /// Counts a file that is damaged, but was read: `remark` about it.
  void note_damaged(const std::string& file, const std::string& remark);

  /// Messages about the files left out, and about those damaged.
  std::vector<std::string> warnings() const;

 private:
  void note(const Error& error);

  double allowed_;
  std::string advice_;
  int64_t files_, broken_ = 0, damaged_ = 0;
  std::string first_broken_, first_damaged_;
};

}  // namespace modewise::data
