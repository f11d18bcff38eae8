#include "modewise/core/parse_json.h"

#include <type_traits>
#include <vector>

#include "modewise/core/error.h"

namespace modewise {

template <class Json>
Json parse_json(std::string_view text, const std::string& source) {
  using Event = typename Json::parse_event_t;
  constexpr bool ordered = std::is_same_v<Json, nlohmann::ordered_json>;
  std::vector<size_t> members;                               // of each enclosing object
  const auto bounded = [&](int depth, Event event, Json&) {  // `depth`: enclosing levels
    if (event == Event::object_start) members.push_back(0);
    if (event == Event::object_end) members.pop_back();
    require(event != Event::key || ++members.back() <= kMaxOrderedMembers || !ordered, ErrorKind::data,
            "{}: an object has more than {} members", source, kMaxOrderedMembers);
    const bool opens = event == Event::object_start || event == Event::array_start;
    require(!opens || depth < kMaxJsonDepth, ErrorKind::data, "{}: nested deeper than {} levels", source,
            kMaxJsonDepth);
    return true;
  };
  try {
    return Json::parse(text, bounded);
  } catch (const typename Json::exception& error) {
    const std::string_view reason = error.what();  // "[json.exception.parse_error.101] parse error at …"
    fail(ErrorKind::data, "{}: not JSON: {}", source, reason.substr(reason.find(' ') + 1));
  }
}

template nlohmann::json parse_json(std::string_view text, const std::string& source);
template nlohmann::ordered_json parse_json(std::string_view text, const std::string& source);

}  // namespace modewise
