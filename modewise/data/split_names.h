#pragma once
// Names of folders and files that are splits of data: train, val and test.

#include <optional>
#include <set>
#include <string>

namespace modewise::data {

/// The split of a name, in any case: train, training; val, valid, validation, dev; test, testing; also with
/// _set or the number of a shard appended (train-00000-of-00002). 0: training, 1: validation, 2: test.
std::optional<size_t> split_of_name(std::string name);
/// Whether one of the names is the training split and one another split.
bool name_splits(const std::set<std::string>& names);
/// Note on `names`, which are left out of `folder` because they are none of its splits.
std::string left_out_of_splits(const std::string& folder, const std::set<std::string>& names);

}  // namespace modewise::data
