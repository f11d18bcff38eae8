#include "modewise/data/segmentation/class_map.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

using Color = std::array<uint8_t, 3>;

// Okabe and Ito's palette, extended; neighbours in the list differ in lightness.
constexpr std::array<Color, 16> kColors = {{{0, 114, 178},
                                            {230, 159, 0},
                                            {0, 158, 115},
                                            {204, 121, 167},
                                            {240, 228, 66},
                                            {86, 180, 233},
                                            {213, 94, 0},
                                            {74, 80, 16},
                                            {150, 110, 200},
                                            {190, 224, 190},
                                            {120, 60, 40},
                                            {60, 60, 120},
                                            {250, 190, 170},
                                            {40, 110, 60},
                                            {160, 160, 160},
                                            {200, 30, 60}}};

void add_to_table(std::vector<int16_t>& table, int64_t first, int64_t id, int16_t value) {
  table[static_cast<size_t>(id - first)] = value;
}

/// "#rrggbb".
Color color_of(const std::string& text) {
  uint32_t value = 0;
  const char* end = text.data() + text.size();
  const bool right =
      text.size() == 7 && text[0] == '#' && std::from_chars(text.data() + 1, end, value, 16).ptr == end;
  require(right, ErrorKind::config, "a class colour must be like \"#0072b2\", got '{}'", text);
  return {static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}

constexpr int16_t kUnknown = -2;
constexpr int64_t kFarthest = 1 << 20;  // limit of the lookup table

}  // namespace

ClassMap::ClassMap(std::string name, std::vector<SceneClass> classes, std::vector<int64_t> ignored_ids,
                   std::vector<std::pair<int64_t, int64_t>> tolerated)
    : name_(std::move(name)),
      classes_(std::move(classes)),
      ignored_ids_(std::move(ignored_ids)),
      tolerated_(std::move(tolerated)) {
  require(!classes_.empty() && classes_.size() <= 255, ErrorKind::config,
          "class map {}: 1 to 255 classes, got {}", name_, classes_.size());
  std::set<int64_t> seen, listed;
  const auto include = [&](int64_t id) {
    require(std::abs(id) <= kFarthest, ErrorKind::config, "class map {}: ids must be −{} to {}, got {}",
            name_, kFarthest, kFarthest, id);
    listed.insert(id);
  };
  for (const SceneClass& one : classes_) {
    require(seen.insert(one.id).second, ErrorKind::config, "class map {}: duplicate id {}", name_, one.id);
    include(one.id);
  }
  for (const int64_t id : ignored_ids_) {
    require(!seen.contains(id), ErrorKind::config, "class map {}: id {} is a class and ignored", name_, id);
    include(id);
  }
  for (const auto& [from, to] : tolerated_) {
    include(from);
    include(to);
  }
  first_id_ = *listed.begin();
  table_.assign(static_cast<size_t>(*listed.rbegin() - first_id_ + 1), kUnknown);
  for (const auto& [from, to] : tolerated_)
    for (int64_t id = from; id <= to; ++id) add_to_table(table_, first_id_, id, ignored);
  for (const int64_t id : ignored_ids_) add_to_table(table_, first_id_, id, ignored);
  for (size_t i = 0; i < classes_.size(); ++i)
    add_to_table(table_, first_id_, classes_[i].id, static_cast<int16_t>(i));
}

std::optional<int16_t> ClassMap::index_of(double value) const {
  const double place = value - static_cast<double>(first_id_);
  if (!(place >= 0 && place < static_cast<double>(table_.size())) || place != std::trunc(place))
    return std::nullopt;
  const int16_t index = table_[static_cast<size_t>(place)];
  if (index == kUnknown) return std::nullopt;
  return index;
}

std::string ClassMap::ids_text() const {
  std::vector<int64_t> ids = ignored_ids_;
  for (const SceneClass& one : classes_) ids.push_back(one.id);
  std::sort(ids.begin(), ids.end());
  if (ids.size() <= 24) return fmt::format("{}", fmt::join(ids, ", "));
  ids.resize(24);
  return fmt::format("{}, …", fmt::join(ids, ", "));
}

MapNumbers ClassMap::map_numbers() const {
  struct Type {
    const char* name;
    int64_t min, max;
  };
  static constexpr std::array<Type, 4> kTypes = {
      {{"u8", 0, 255}, {"u16", 0, 65535}, {"i16", INT16_MIN, INT16_MAX}, {"i32", INT32_MIN, INT32_MAX}}};
  std::set<int64_t> ids;
  for (const SceneClass& one : classes_) ids.insert(one.id);
  const Type type = *std::ranges::find_if(
      kTypes, [&](const Type& one) { return *ids.begin() >= one.min && *ids.rbegin() <= one.max; });
  const auto held =
      std::ranges::find_if(ignored_ids_, [&](int64_t id) { return id >= type.min && id <= type.max; });
  int64_t nodata = type.min < 0 ? type.min : type.max;
  if (held != ignored_ids_.end())
    nodata = *held;
  else
    while (ids.contains(nodata)) nodata += type.min < 0 ? 1 : -1;
  return {type.name, static_cast<int32_t>(nodata)};
}

// Legend and colours: Multi-Resolution Land Characteristics Consortium, www.mrlc.gov.
ClassMap nlcd_classes() {
  return {"nlcd",
          {{11, "open water", {70, 107, 159}},
           {21, "developed, open space", {222, 197, 197}},
           {22, "developed, low intensity", {217, 146, 130}},
           {31, "barren land", {179, 172, 159}},
           {41, "deciduous forest", {104, 171, 95}},
           {42, "evergreen forest", {28, 95, 44}},
           {43, "mixed forest", {181, 197, 143}},
           {52, "shrub", {204, 184, 121}},
           {71, "grassland", {223, 223, 194}},
           {81, "pasture, hay", {220, 217, 57}},
           {82, "cultivated crops", {171, 108, 40}},
           {90, "woody wetlands", {184, 217, 235}},
           {95, "herbaceous wetlands", {108, 159, 184}}},
          {0},
          {{12, 12}, {23, 24}, {51, 51}, {72, 74}}};
}

// Legend: USDA National Agricultural Statistics Service; its equal colours for forests, wetlands and
// developed land are replaced by distinct ones.
ClassMap cdl_classes() {
  return {"cdl",
          {{1, "corn", {255, 211, 0}},
           {5, "soybeans", {38, 112, 0}},
           {24, "winter wheat", {165, 112, 0}},
           {36, "alfalfa", {255, 165, 226}},
           {37, "other hay", {165, 242, 140}},
           {61, "fallow", {191, 191, 119}},
           {111, "open water", {74, 112, 163}},
           {121, "developed, open space", {175, 175, 175}},
           {122, "developed, low intensity", {130, 130, 130}},
           {131, "barren", {204, 191, 163}},
           {141, "deciduous forest", {147, 204, 147}},
           {142, "evergreen forest", {70, 140, 80}},
           {143, "mixed forest", {110, 170, 110}},
           {152, "shrubland", {198, 214, 158}},
           {176, "grassland, pasture", {232, 255, 191}},
           {190, "woody wetlands", {100, 155, 165}},
           {195, "herbaceous wetlands", {150, 195, 200}}},
          {0},
          {{2, 6},
           {10, 14},
           {21, 35},
           {38, 60},
           {62, 77},
           {81, 83},
           {87, 88},
           {92, 92},
           {112, 112},
           {123, 124},
           {204, 250},
           {254, 254}}};
}

std::vector<SceneClass> plain_classes(const std::vector<int64_t>& ids, const std::vector<std::string>& names,
                                      const std::vector<std::string>& colors) {
  require(names.empty() || names.size() == ids.size(), ErrorKind::config,
          "{} class names for {} class ids: give one name per id, or none", names.size(), ids.size());
  require(colors.empty() || colors.size() == ids.size(), ErrorKind::config,
          "{} class colours for {} class ids: give one colour per id, or none", colors.size(), ids.size());
  std::vector<SceneClass> classes;
  for (size_t i = 0; i < ids.size(); ++i)
    classes.push_back({ids[i], names.empty() ? fmt::format("class {}", ids[i]) : names[i],
                       colors.empty() ? kColors[i % kColors.size()] : color_of(colors[i])});
  return classes;
}

nlohmann::ordered_json to_json(const ClassMap& map) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const SceneClass& one : map.classes())
    classes.push_back({{"id", one.id}, {"name", one.name}, {"color", one.color}});
  return {{"name", map.name()}, {"classes", classes}, {"ignored", map.ignored_ids()}};
}

ClassMap class_map_from_json(const nlohmann::ordered_json& document) {
  const auto name = document.at("name").get<std::string>();
  if (name == "nlcd") return nlcd_classes();
  if (name == "cdl") return cdl_classes();
  std::vector<SceneClass> classes;
  for (const auto& one : document.at("classes"))
    classes.push_back({one.at("id").get<int64_t>(), one.at("name").get<std::string>(),
                       one.at("color").get<std::array<uint8_t, 3>>()});
  return {name, std::move(classes), document.at("ignored").get<std::vector<int64_t>>()};
}

}  // namespace modewise::data
