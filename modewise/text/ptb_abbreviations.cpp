#include "modewise/text/ptb_abbreviations.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "modewise/text/ptb_characters.h"

namespace modewise::text {
namespace {

using Words = std::span<const std::string_view>;

constexpr auto kCommon = std::to_array<std::string_view>(
    {// months, days
     "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue",
     "tues", "wed", "thu", "thurs", "fri",
     // states
     "ala", "ariz", "calif", "colo", "conn", "ct", "dak", "fla", "ga", "ind", "kan", "kans", "ky", "md",
     "mich", "minn", "mo", "mont", "neb", "nev", "okla", "penn", "tenn", "va", "vt", "wis", "wisc", "wyo",
     // companies
     "inc", "co", "cos", "corp", "pty", "ptys", "pte", "ptes", "ppty", "ppte", "ltd", "plc", "rt", "bancorp",
     "bhd", "assn", "univ", "intl", "sys",
     // after names and numbers
     "tel", "est", "ext", "sq", "jr", "sr", "bros", "blvd", "rd", "esq", "etc", "al", "seq", "bldg"});

/// Also ordinary words, so abbreviations only if capitalized.
constexpr auto kCapitalStates = std::to_array<std::string_view>(
    {"Az", "Ark", "Del", "Ill", "La", "Mass", "Miss", "Ore", "Pa", "Tex", "Wash"});

constexpr auto kTitles = std::to_array<std::string_view>(
    {"mr",   "mrs",   "ms",  "dr",    "drs",  "prof",   "profs", "sen",  "sens",  "rep",  "reps",
     "atty", "attys", "lt",  "col",   "gen",  "messrs", "gov",   "govs", "adm",   "rev",  "maj",
     "sgt",  "cpl",   "pvt", "capt",  "st",   "ste",    "ave",   "pres", "lieut", "hon",  "brig",
     "cmdr", "comdr", "pfc", "spc",   "supt", "supts",  "det",   "mt",   "ft",    "adj",  "adv",
     "asst", "assoc", "ens", "insp",  "mlle", "mme",    "msgr",  "sfc",  "vs",    "alex", "wm",
     "jos",  "cie",   "cf",  "treas", "ph",   "invt",   "elec",  "natl", "mfg",   "mtg",  "dept"});

constexpr auto kBeforeNumbers =
    std::to_array<std::string_view>({"ca", "fig", "figs", "prop", "no", "nos", "art", "bldg", "pp", "op"});

constexpr auto kOpeners = std::to_array<std::string_view>(
    {"About", "According", "Additionally", "After",   "An",    "A",     "As",    "At",    "But",   "Earlier",
     "He",    "Her",       "Here",         "However", "If",    "In",    "It",    "Last",  "Many",  "More",
     "Mr.",   "Ms.",       "Now",          "Once",    "One",   "Other", "Our",   "She",   "Since", "So",
     "Some",  "Such",      "That",         "The",     "Their", "Then",  "There", "These", "They",  "This",
     "We",    "When",      "While",        "What",    "Yet",   "You"});

constexpr size_t kLongest = 8;  // letters

bool contains(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

PtbAbbreviation ptb_abbreviation(std::string_view letters) {
  if (letters.size() > kLongest) return PtbAbbreviation::none;
  if (contains(kCapitalStates, letters)) return PtbAbbreviation::common;
  const std::string lower = ptb_lower_case(letters);
  if (contains(kCommon, lower)) return PtbAbbreviation::common;
  if (contains(kTitles, lower)) return PtbAbbreviation::title;
  if (contains(kBeforeNumbers, lower)) return PtbAbbreviation::before_number;
  return PtbAbbreviation::none;
}

bool opens_a_sentence(std::string_view word) {
  // Only the case of the first letter matters.
  std::string as_listed = ptb_lower_case(word);
  if (word.empty() || !is_ascii_upper(word[0])) return false;
  as_listed[0] = word[0];
  return contains(kOpeners, as_listed);
}

}  // namespace modewise::text
