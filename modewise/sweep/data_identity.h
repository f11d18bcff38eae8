#pragma once
// Identity of the data of a run: a hash of its files, which shows whether they have changed since.

#include <filesystem>
#include <map>
#include <string>

#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

/// Reads each file or folder once, without the files below `except`: a folder of data may hold the results.
class DataIdentity {
 public:
  explicit DataIdentity(const std::filesystem::path& except) : except_((except / "").string()) {}

  /// Hash of the names and contents of the run's data files: those of the plan, and those that its config and
  /// the run's settings name under data.*; "" if it names none that exist.
  std::string of(const SweepPlan& plan, const SweepRun& run);

 private:
  const std::string& hash_of(const std::string& path);

  std::string except_;
  std::map<std::string, std::string> hashes_;  // by path
};

}  // namespace modewise::sweep
