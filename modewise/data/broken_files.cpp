#include "modewise/data/broken_files.h"

#include <cmath>
#include <utility>

namespace modewise::data {

BrokenFiles::BrokenFiles(double skip_broken, int64_t files, std::string advice)
    : allowed_(skip_broken < 1 ? std::floor(skip_broken * static_cast<double>(files)) : skip_broken),
      advice_(std::move(advice)),
      files_(files) {}

void BrokenFiles::note(const Error& error) {
  if (broken_++ == 0) first_broken_ = error.what();
  if (static_cast<double>(broken_) <= allowed_) return;
  if (allowed_ < 1)
    fail(ErrorKind::data, "{}; {} (a number of files, or a fraction below 1) leaves it out", first_broken_,
         advice_);
  fail(ErrorKind::data, "{}; more than {:.0f} of {} files are broken ({})", first_broken_, allowed_, files_,
       advice_.substr(0, advice_.find(' ')));
}

void BrokenFiles::note_damaged(const std::string& file, const std::string& remark) {
  if (damaged_++ == 0) first_damaged_ = file + ": " + remark;
}

std::vector<std::string> BrokenFiles::warnings() const {
  std::vector<std::string> out;
  if (broken_ > 0)
    out.push_back(fmt::format("{} of {} files cannot be read and {} left out; the first is {}", broken_,
                              files_, broken_ == 1 ? "is" : "are", first_broken_));
  if (damaged_ > 0)
    out.push_back(fmt::format("{} of {} files {} damaged, but read; the first is {}", damaged_, files_,
                              damaged_ == 1 ? "is" : "are", first_damaged_));
  return out;
}

}  // namespace modewise::data
