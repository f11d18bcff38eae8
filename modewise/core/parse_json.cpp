#include "modewise/core/parse_json.h"

#include "modewise/core/error.h"

namespace modewise {

template <class Json>
Json parse_json(std::string_view text, const std::string& source) {
  const auto bounded = [&](int depth, typename Json::parse_event_t, Json&) {
    require(depth <= kMostJsonDepth, ErrorKind::data, "{}: nested deeper than {} levels", source,
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
