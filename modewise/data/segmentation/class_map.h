#pragma once
// Which numbers of a mask mean which class, and which count nowhere: the legends of the National Land Cover
// Database and of the Cropland Data Layer as the SSL4EO-L benchmark uses them, lists of a user's, or whatever
// a mask holds.

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace modewise::data {

struct SceneClass {
  int64_t id = 0;  // the number in masks and class maps
  std::string name;
  std::array<uint8_t, 3> color = {0, 0, 0};
  bool operator==(const SceneClass&) const = default;
};

class ClassMap {
 public:
  static constexpr int16_t ignored = -1;

  ClassMap() = default;
  /// Classes in this order; ids in `ignored_ids` and in the ranges `tolerated` (first, last) count nowhere.
  /// Errors (config): no class, more than 255, an id twice, one that is a class and ignored.
  ClassMap(std::string name, std::vector<SceneClass> classes, std::vector<int64_t> ignored_ids,
           std::vector<std::pair<int64_t, int64_t>> tolerated = {});

  const std::string& name() const { return name_; }
  const std::vector<SceneClass>& classes() const { return classes_; }
  const std::vector<int64_t>& ignored_ids() const { return ignored_ids_; }
  int64_t size() const { return static_cast<int64_t>(classes_.size()); }
  /// The place of a mask's value among the classes, `ignored`, or nothing when the legend does not know it.
  std::optional<int16_t> index_of(double value) const;
  /// "0, 11, 21 …", for messages.
  std::string ids_text() const;
  /// The number that class maps hold where nothing is said: the first ignored id of 0 … 255, else 255 or the
  /// highest number below it that is no class. Nothing when class ids themselves do not fit into 0 … 255.
  std::optional<uint8_t> nodata_id() const;

  bool operator==(const ClassMap&) const = default;

 private:
  std::string name_;
  std::vector<SceneClass> classes_;
  std::vector<int64_t> ignored_ids_;
  std::vector<std::pair<int64_t, int64_t>> tolerated_;
  int64_t first_id_ = 0;
  std::vector<int16_t> table_;  // of first_id_ …
};

/// The 13 classes of NLCD that SSL4EO-L keeps; 0 is ignored, and so are the legend's other classes.
ClassMap nlcd_classes();
/// The 17 classes of CDL that SSL4EO-L keeps; 0 is ignored, and so are the legend's other classes.
ClassMap cdl_classes();

/// A class for each id, in the given order, with `names` (empty: "class 7") and `colors` ("#0072b2"; empty:
/// colours that tell apart). Config errors when the lists differ in length, or for what is no colour.
std::vector<SceneClass> plain_classes(const std::vector<int64_t>& ids, const std::vector<std::string>& names,
                                      const std::vector<std::string>& colors = {});

nlohmann::ordered_json to_json(const ClassMap& map);
/// Throws nlohmann's exceptions and config errors when the document is no class map.
ClassMap class_map_from_json(const nlohmann::ordered_json& document);

}  // namespace modewise::data
