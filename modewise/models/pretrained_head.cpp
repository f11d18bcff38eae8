#include "modewise/models/pretrained_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"

namespace modewise::models {
namespace {

constexpr int64_t kMaxLabels = 100'000;

std::string generic_name(size_t row) {
  return fmt::format("LABEL_{}", row);
}

bool are_generic(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != generic_name(i)) return false;
  return true;
}

}  // namespace

std::vector<std::string> read_label_names(const JsonObject& config) {
  int64_t count = config.integer("num_labels", 2);
  const nlohmann::json* names = config.has("id2label") ? &config.value("id2label") : nullptr;
  if (names != nullptr) {
    require(names->is_object(), ErrorKind::data, "{}: id2label must be an object", config.source());
    count = static_cast<int64_t>(names->size());
  }
  require(count >= 1 && count <= kMaxLabels, ErrorKind::data, "{}: {} labels; supported are 1 to {}",
          config.source(), count, kMaxLabels);
  std::vector<std::string> out;
  for (int64_t i = 0; i < count; ++i) {
    out.push_back(generic_name(static_cast<size_t>(i)));
    if (names == nullptr) continue;
    const std::string key = std::to_string(i);
    require(names->contains(key) && (*names)[key].is_string(), ErrorKind::data,
            "{}: id2label has {} labels, but no string for \"{}\"", config.source(), count, key);
    out.back() = (*names)[key].get<std::string>();
  }
  return out;
}

HeadRows match_head_rows(const std::vector<std::string>& names, const std::vector<std::string>& classes) {
  std::map<std::string, int64_t> row_of;
  for (size_t i = 0; i < names.size(); ++i) row_of.emplace(names[i], static_cast<int64_t>(i));
  std::vector<int64_t> rows;
  for (const std::string& name : classes)
    if (const auto row = row_of.find(name); row != row_of.end()) rows.push_back(row->second);
  if (rows.size() == classes.size() && row_of.size() == names.size() && names.size() == classes.size()) {
    if (std::is_sorted(rows.begin(), rows.end())) return {rows, ""};
    return {rows,
            fmt::format("the rows of the head are reordered from the classes {} to those of the data, {}",
                        listed_names(names), listed_names(classes))};
  }
  if (names.size() != classes.size() || !are_generic(names))
    return {std::nullopt,
            fmt::format("the head is newly initialized: the folder has one for the classes {}, but "
                        "the data has {}",
                        listed_names(names), listed_names(classes))};
  rows.resize(names.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return {rows, fmt::format("the head is kept: its classes {} have no names, and are taken as {}",
                            listed_names(names), listed_names(classes))};
}

}  // namespace modewise::models
