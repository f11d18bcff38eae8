#include "modewise/core/parse_json.h"

#include "modewise/core/error.h"

namespace modewise {

template <class Json>
Json parse_json(std::string_view text, const std::string& source) {
  using Event = typename Json::parse_event_t;
  const auto bounded = [&](int depth, Event event, Json&) {  // `depth`: levels around what is met
    const bool opens = event == Event::object_start || event == Event::array_start;
    require(!opens || depth < kMostJsonDepth, ErrorKind::data, "{}: nested deeper than {} levels", source,
            kMostJsonDepth);
    return true;
  };
  try {
    return Json::parse(text, bounded);
  } catch (const typename Json::exception& error) {
    fail(ErrorKind::data, "{}: not JSON: {}", source, error.what());
  }
}

template nlohmann::json parse_json(std::string_view text, const std::string& source);
template nlohmann::ordered_json parse_json(std::string_view text, const std::string& source);

}  // namespace modewise
