#include "modewise/io/tables/time_names.h"

#include <algorithm>
#include <iterator>

#include "modewise/io/tables/date_scanner.h"

namespace modewise::io {
namespace {

// Words that mean a time, and words that only qualify one.
constexpr std::string_view kTimeWords[] = {
    "time",        "timestamp", "datetime",    "date",       "dates",       "ds",      "ts",
    "datum",       "zeit",      "zeitstempel", "zeitpunkt",  "zeitraum",    "uhrzeit", "fecha",
    "hora",        "fechahora", "heure",       "horodate",   "horodatage",  "tijd",    "tijdstip",
    "tijdstempel", "orario",    "dato",        "tid",        "tidspunkt",   "epoch",   "unix",
    "unixtime",    "utc",       "mtu",         "timeutc",    "datetimeutc", "dateutc", "datehour",
    "dateheure",   "yyyymm",    "yyyymmdd",    "yyyymmddhh", "dateh",       "czas",    "čas",
    "tarih",       "zaman",     "päivä",       "päivämäärä", "pvm",         "aika",    "дата",
    "время",       "日期",      "时间",        "時間",       "時刻",        "日時",    "日付",
    "年月日",      "年月",      "时间戳",      "날짜",       "일자",        "일시",    "시간"};
constexpr std::string_view kCalendarWords[] = {
    "year",      "month", "day",     "week",    "quarter", "period", "jahr",      "monat",
    "tag",       "woche", "quartal", "annee",   "année",   "mois",   "jour",      "semaine",
    "trimestre", "año",   "ano",     "anio",    "mes",     "dia",    "día",       "semana",
    "anno",      "mese",  "giorno",  "jaar",    "maand",   "dag",    "week",      "kwartaal",
    "rok",       "data",  "periodo", "periode", "år",      "kw",     "settimana", "tydzień",
    "miesiąc",   "vecka", "uge",     "uke",     "年",      "月",     "年度",      "季度"};
constexpr std::string_view kQualifiers[] = {
    "stamp",       "obs",         "observation", "observed", "mess",     "measured", "measurement",
    "local",       "gmt",         "cet",         "cest",     "est",      "start",    "begin",
    "end",         "from",        "of",          "the",      "at",       "valid",    "record",
    "recorded",    "event",       "iso",         "ms",       "us",       "ns",       "s",
    "sec",         "seconds",     "unnamed",     "index",    "reading",  "sample",   "sampling",
    "decimal",     "series",      "de",          "du",       "day",      "hour",     "open",
    "close",       "interval",    "data",        "log",      "created",  "ref",      "reference",
    "trade",       "business",    "settlement",  "report",   "forecast", "target",   "milliseconds",
    "nanoseconds", "microseconds"};

template <size_t n>
bool among(const std::string& word, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// observationdate, measuretime.
bool ends_in_time(const std::string& word) {
  static constexpr std::string_view kOthers[] = {"update",   "runtime",   "uptime",  "downtime", "lifetime",
                                                 "overtime", "candidate", "mandate", "sometime", "realtime"};
  if (among(word, kOthers)) return false;
  for (const std::string_view end : {"date", "time", "datetime", "timestamp", "datum", "zeit"})
    if (word.size() > end.size() + 2 && word.ends_with(end)) return true;
  return false;
}

}  // namespace

std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words;
  bool open = false, small = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_letter(c)) {
      open = false;
      continue;
    }
    const bool capital = c >= 'A' && c <= 'Z';
    const bool before_small = i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    if (!open || (capital && small) || (capital && before_small)) words.emplace_back();
    words.back() += to_lower(c);
    open = true;
    small = !capital;
  }
  return words;
}

TimeName time_name(std::string_view name) {
  const std::vector<std::string> words = name_words(name);
  bool any = false, all = !words.empty();
  bool calendar = false;
  for (const std::string& word : words) {
    const bool time = among(word, kTimeWords) || ends_in_time(word);
    any = any || time;
    calendar = calendar || among(word, kCalendarWords);
    all = all && (time || among(word, kQualifiers));
  }
  if (any) return all ? TimeName::whole : TimeName::part;
  return calendar ? TimeName::part : TimeName::none;
}

bool names_hours(std::string_view name) {
  static constexpr std::string_view kHours[] = {
      "hour",   "hours",  "hr",  "hrs",  "hh",  "he",  "hourending", "hourend",       "heure",
      "heures", "stunde", "std", "hora", "ora", "uur", "uhr",        "hourbeginning", "h"};
  const std::vector<std::string> words = name_words(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return among(word, kHours); });
}

bool names_clock(std::string_view name) {
  static constexpr std::string_view kClock[] = {"time", "clock", "uhrzeit", "zeit",    "tijd", "orario",
                                                "tid",  "hhmm",  "klokke",  "horaire", "von",  "timestamp"};
  const std::vector<std::string> words = name_words(name);
  return names_hours(name) ||
         std::any_of(words.begin(), words.end(), [](const std::string& word) { return among(word, kClock); });
}

bool names_weeks(std::string_view name) {
  static constexpr std::string_view kWeeks[] = {
      "week",          "weeks",   "wk",     "isoweek",   "yearweek", "yyyyww", "kw",  "woche",
      "kalenderwoche", "semaine", "semana", "settimana", "vecka",    "uge",    "uke", "tydzień"};
  const std::vector<std::string> words = name_words(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return among(word, kWeeks); });
}

bool names_day_parts(std::string_view name) {
  static constexpr std::string_view kParts[] = {"period",  "interval", "slot", "mtu",   "minute", "minutes",
                                                "quarter", "sp",       "pte",  "block", "periodo"};
  const std::vector<std::string> words = name_words(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return among(word, kParts); });
}

}  // namespace modewise::io
