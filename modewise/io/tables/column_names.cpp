#include "modewise/io/tables/column_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "modewise/io/ascii.h"

namespace modewise::io {
namespace {

/// Lower-case letters and digits of a name.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else if (c != '_' && c != '-' && c != ' ' && c != '.' && c != ':')
      out += c;
  return out;
}

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool names_an_index(std::string_view name) {
  static constexpr std::array<std::string_view, 31> names = {
      "id",          "ids",      "idx",       "index",       "sample",        "sampleid",
      "sampleindex", "case",     "caseid",    "row",         "rowid",         "rowno",
      "uid",         "uuid",     "guid",      "seriesid",    "uniqueid",      "series",
      "record",      "recordid", "instance",  "instanceid",  "objectid",      "patient",
      "patientid",   "subject",  "subjectid", "participant", "participantid", "person",
      "personid"};
  std::string own = plain(name);
  if (own.starts_with("unnamed")) return std::all_of(own.begin() + 7, own.end(), is_digit);
  return contains(names, own);
}

bool names_a_class(std::string_view name) {
  static constexpr std::array<std::string_view, 4> names = {"label", "class", "target", "y"};
  return contains(names, plain(name));
}

}  // namespace modewise::io
