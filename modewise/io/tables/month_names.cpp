#include "modewise/io/tables/month_names.h"

#include <bit>

namespace modewise::io {

const std::array<Language, kLanguageCount> kLanguages = {{
    {"en",
     {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
      "november", "december"},
     {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
     {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
     {"mon", "tue", "wed", "thu", "fri", "sat", "sun"}},
    {"de",
     {"januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
      "november", "dezember"},
     {"jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"},
     {"montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"},
     {"mo", "di", "mi", "do", "fr", "sa", "so"}},
    {"fr",
     {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre",
      "novembre", "décembre"},
     {"janv", "févr", "mars", "avr", "mai", "juin", "juil", "août", "sept", "oct", "nov", "déc"},
     {"lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"},
     {"lun", "mar", "mer", "jeu", "ven", "sam", "dim"}},
    {"es",
     {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
      "noviembre", "diciembre"},
     {"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"},
     {"lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"},
     {"lun", "mar", "mié", "jue", "vie", "sáb", "dom"}},
    {"it",
     {"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre",
      "ottobre", "novembre", "dicembre"},
     {"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"},
     {"lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"},
     {"lun", "mar", "mer", "gio", "ven", "sab", "dom"}},
    {"pt",
     {"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro",
      "novembro", "dezembro"},
     {"jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"},
     {"segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"},
     {"seg", "ter", "qua", "qui", "sex", "sáb", "dom"}},
    {"nl",
     {"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober",
      "november", "december"},
     {"jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"},
     {"maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"},
     {"ma", "di", "wo", "do", "vr", "za", "zo"}},
    {"sv",
     {"januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september", "oktober",
      "november", "december"},
     {"jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"},
     {"måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"},
     {"mån", "tis", "ons", "tor", "fre", "lör", "sön"}},
    {"da",
     {"januar", "februar", "marts", "april", "maj", "juni", "juli", "august", "september", "oktober",
      "november", "december"},
     {"jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"},
     {"mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag"},
     {"man", "tir", "ons", "tor", "fre", "lør", "søn"}},
}};

namespace {

// Other spellings, which are written back as the usual abbreviation of the first language.
struct Spelling {
  std::string_view name;
  int month;
  uint16_t languages;
};
constexpr Spelling kSpellings[] = {
    {"sept", 9, 1 << 0},  {"mrz", 3, 1 << 1},       {"maerz", 3, 1 << 1}, {"jänner", 1, 1 << 1},
    {"janv", 1, 1 << 2},  {"fevrier", 2, 1 << 2},   {"fevr", 2, 1 << 2},  {"fév", 2, 1 << 2},
    {"aout", 8, 1 << 2},  {"decembre", 12, 1 << 2}, {"jui", 6, 1 << 2},   {"sept", 9, 1 << 2},
    {"marco", 3, 1 << 5}, {"setiembre", 9, 1 << 3},
};

// Lower case of ASCII and of the Latin-1 letters of UTF-8 (É, Ä …).
std::string lower(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<unsigned char>(out[i]);
    if (c >= 'A' && c <= 'Z') out[i] = static_cast<char>(c + 0x20);
    if (c == 0xC3 && i + 1 < out.size()) {
      ++i;
      const auto next = static_cast<unsigned char>(out[i]);
      if (next >= 0x80 && next <= 0x9E && next != 0x97) out[i] = static_cast<char>(next + 0x20);
    }
  }
  return out;
}

std::string upper(std::string_view text, bool first_only) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<unsigned char>(out[i]);
    if (c >= 'a' && c <= 'z') out[i] = static_cast<char>(c - 0x20);
    if (c == 0xC3 && i + 1 < out.size()) {
      ++i;
      const auto next = static_cast<unsigned char>(out[i]);
      if (next >= 0xA0 && next <= 0xBE && next != 0xB7) out[i] = static_cast<char>(next - 0x20);
    }
    if (first_only) break;
  }
  return out;
}

Letters letters_of(std::string_view name, std::string_view lower_name) {
  if (name == lower_name) return Letters::lower;
  return name == upper(lower_name, false) ? Letters::capitals : Letters::title;
}

template <size_t n>
CalendarName find_name(std::string_view small, std::array<std::string_view, n> Language::*full_names,
                       std::array<std::string_view, n> Language::*short_names) {
  CalendarName found{0, true, 0, Letters::title};
  for (const bool full : {false, true}) {
    for (size_t language = 0; language < kLanguageCount; ++language) {
      const auto& names = kLanguages[language].*(full ? full_names : short_names);
      for (size_t i = 0; i < n; ++i) {
        if (names[i] != small) continue;
        found.number = static_cast<int>(i) + 1;
        found.full = found.full && full;
        found.languages = static_cast<uint16_t>(found.languages | 1U << language);
      }
    }
  }
  return found;
}

bool possible(std::string_view name) {
  return name.size() >= 2 && name.size() <= 20;
}

std::string in_letters(std::string_view name, Letters letters) {
  return letters == Letters::lower ? std::string(name) : upper(name, letters == Letters::title);
}

const Language& first_language(uint16_t languages) {
  return kLanguages[static_cast<size_t>(std::countr_zero(languages == 0 ? uint16_t{1} : languages))];
}

}  // namespace

std::optional<CalendarName> find_month(std::string_view name) {
  if (!possible(name)) return std::nullopt;
  const std::string small = lower(name);
  CalendarName found = find_name(small, &Language::months, &Language::short_months);
  for (const Spelling& spelling : kSpellings) {
    if (small != spelling.name) continue;
    found.number = spelling.month;
    found.full = false;
    found.languages = static_cast<uint16_t>(found.languages | spelling.languages);
  }
  if (found.number == 0) return std::nullopt;
  found.letters = letters_of(name, small);
  return found;
}

std::optional<CalendarName> find_weekday(std::string_view name) {
  if (!possible(name)) return std::nullopt;
  const std::string small = lower(name);
  CalendarName found = find_name(small, &Language::days, &Language::short_days);
  if (found.number == 0) return std::nullopt;
  found.letters = letters_of(name, small);
  return found;
}

std::string month_name(int month, bool full, uint16_t languages, Letters letters) {
  const Language& language = first_language(languages);
  return in_letters((full ? language.months : language.short_months)[static_cast<size_t>(month - 1)],
                    letters);
}

std::string weekday_name(int day, bool full, uint16_t languages, Letters letters) {
  const Language& language = first_language(languages);
  return in_letters((full ? language.days : language.short_days)[static_cast<size_t>(day - 1)], letters);
}

}  // namespace modewise::io
