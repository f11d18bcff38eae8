#pragma once
// Classification heads of pretrained folders: their class names, compared with the classes of the data.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/models/json_object.h"

namespace modewise::models {

/// Class names from id2label; LABEL_0, … for num_labels without it.
std::vector<std::string> read_label_names(const JsonObject& config);

struct HeadRows {
  std::optional<std::vector<int64_t>> rows;  // row of each class in the file; nullopt if it has other classes
  std::string note;                          // a sentence unless names and order are equal
};

/// The rows of a head with the class names `names` for the classes of the data. The names LABEL_0, … do not
/// tell the classes apart, so their rows are taken in order, with a note.
HeadRows match_head_rows(const std::vector<std::string>& names, const std::vector<std::string>& classes);

}  // namespace modewise::models
