#include "modewise/io/tables/zone_names.h"

#include <algorithm>
#include <iterator>

namespace modewise::io {
namespace {

constexpr ZoneName kZoneNames[] = {
    {"Z", 0},          {"UTC", 0},          {"GMT", 0},    {"UT", 0},           {"WET", 0},    {"WEST", 60},
    {"BST", 60, true}, {"CET", 60},         {"MEZ", 60},   {"CEST", 120},       {"MESZ", 120}, {"EET", 120},
    {"SAST", 120},     {"EEST", 180},       {"MSK", 180},  {"IST", 330, true},  {"HKT", 480},  {"AWST", 480},
    {"JST", 540},      {"KST", 540},        {"ACST", 570}, {"AEST", 600},       {"ACDT", 630}, {"AEDT", 660},
    {"NZST", 720},     {"NZDT", 780},       {"BRT", -180}, {"AST", -240, true}, {"EDT", -240}, {"EST", -300},
    {"CDT", -300},     {"CST", -360, true}, {"MDT", -360}, {"MST", -420},       {"PDT", -420}, {"PST", -480},
    {"AKDT", -480},    {"AKST", -540},      {"HST", -600},
};

}  // namespace

const ZoneName* find_zone_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(kZoneNames), std::end(kZoneNames),
                                   [&](const ZoneName& zone) { return zone.name == name; });
  return found == std::end(kZoneNames) ? nullptr : found;
}

}  // namespace modewise::io
