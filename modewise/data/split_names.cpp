#include "modewise/data/split_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "modewise/core/counted.h"
#include "modewise/core/nearest_name.h"

namespace modewise::data {
namespace {

/// The name without the number of a shard: train for train-00000-of-00002.
std::string_view without_shard(std::string_view name) {
  const auto without_digits = [](std::string_view text) {
    return text.substr(0, text.find_last_not_of("0123456789") + 1);
  };
  std::string_view number = without_digits(name);
  if (number == name || !number.ends_with("-of-")) return name;
  number.remove_suffix(4);
  const std::string_view split = without_digits(number);
  return split == number || !split.ends_with('-') ? name : split.substr(0, split.size() - 1);
}

}  // namespace

std::optional<size_t> split_of_name(std::string name) {
  static const std::array<std::vector<std::string>, 3> names = {
      {{"train", "training"}, {"val", "valid", "validation", "dev"}, {"test", "testing"}}};
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (name.ends_with("_set")) name.resize(name.size() - 4);
  name.resize(without_shard(name).size());
  for (size_t split = 0; split < names.size(); ++split)
    if (std::ranges::find(names[split], name) != names[split].end()) return split;
  return std::nullopt;
}

bool name_splits(const std::set<std::string>& names) {
  const auto any = [&](auto matches) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      const std::optional<size_t> split = split_of_name(name);
      return split && matches(*split);
    });
  };
  return any([](size_t split) { return split == 0; }) && any([](size_t split) { return split > 0; });
}

std::string left_out_of_splits(const std::string& folder, const std::set<std::string>& names) {
  const std::vector<std::string> list(names.begin(), names.end());
  return fmt::format("{}: {} {} left out; the splits are the folders train, val and test", folder,
                     listed_names(list), is_or_are(list.size()));
}

}  // namespace modewise::data
