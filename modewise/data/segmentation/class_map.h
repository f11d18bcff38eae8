#pragma once
// Class maps: mask values to classes and ignored values. Legends of the National Land Cover Database and the
// Cropland Data Layer as in the SSL4EO-L benchmark, user-defined lists, or the values found in the masks.

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace modewise::data {

struct SceneClass {
  int64_t id = 0;  // value in masks and class maps
  std::string name;
  std::array<uint8_t, 3> color = {0, 0, 0};
  bool operator==(const SceneClass&) const = default;
};

/// Type of the numbers in a class map file, and the one of pixels without data.
struct MapNumbers {
  std::string dtype;
  int32_t nodata = 0;
  bool operator==(const MapNumbers&) const = default;
};

class ClassMap {
 public:
  static constexpr int16_t ignored = -1;

  ClassMap() = default;
  /// Classes in this order; ids in `ignored_ids` and in the ranges `tolerated` (first, last) are ignored.
  /// Errors (config): no class, more than 255, a duplicate id, an id that is a class and ignored.
  ClassMap(std::string name, std::vector<SceneClass> classes, std::vector<int64_t> ignored_ids,
           std::vector<std::pair<int64_t, int64_t>> tolerated = {});

  const std::string& name() const { return name_; }
  const std::vector<SceneClass>& classes() const { return classes_; }
  const std::vector<int64_t>& ignored_ids() const { return ignored_ids_; }
  int64_t size() const { return static_cast<int64_t>(classes_.size()); }
  /// Class index of a mask value, `ignored`, or nothing for an unknown value.
  std::optional<int16_t> index_of(double value) const;
  /// "0, 11, 21 …", for messages.
  std::string ids_text() const;
  /// Numbers of class maps: the narrowest of u8, u16, i16 and i32 that holds the class ids, and as nodata
  /// value the first ignored id that it holds, else its highest (i16 and i32: lowest) number that is not a
  /// class.
  MapNumbers map_numbers() const;

  bool operator==(const ClassMap&) const = default;

 private:
  std::string name_;
  std::vector<SceneClass> classes_;
  std::vector<int64_t> ignored_ids_;
  std::vector<std::pair<int64_t, int64_t>> tolerated_;
  int64_t first_id_ = 0;
  std::vector<int16_t> table_;  // index of id first_id_ + i
};

/// The 13 NLCD classes of SSL4EO-L; 0 and the legend's other classes are ignored.
ClassMap nlcd_classes();
/// The 17 CDL classes of SSL4EO-L; 0 and the legend's other classes are ignored.
ClassMap cdl_classes();

/// One class per id, in the given order, with `names` (empty: "class 7") and `colors` ("#0072b2"; empty:
/// distinguishable colours). Config errors if the lists differ in length, or for an invalid colour.
std::vector<SceneClass> plain_classes(const std::vector<int64_t>& ids, const std::vector<std::string>& names,
                                      const std::vector<std::string>& colors = {});

nlohmann::ordered_json to_json(const ClassMap& map);
/// Throws nlohmann's exceptions and config errors if the document is not a class map.
ClassMap class_map_from_json(const nlohmann::ordered_json& document);

}  // namespace modewise::data
