#include "modewise/text/ptb_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/text/ptb_scanner.h"

namespace modewise::text {
namespace {

constexpr std::string_view kSoftHyphen = "\u00AD";

/// Punctuation that the evaluation drops. Quotes, dots, commas and colons never get here.
bool is_punctuation(std::string_view token) {
  return token == "-" || token == "--" || token == "?" || token == "!" || token == "''";
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kRewritten = {{{"(", "-lrb-"},
                                                                                       {")", "-rrb-"},
                                                                                       {"[", "-lsb-"},
                                                                                       {"]", "-rsb-"},
                                                                                       {"{", "-lcb-"},
                                                                                       {"}", "-rcb-"},
                                                                                       {"\u00BC", "1/4"},
                                                                                       {"\u00BD", "1/2"},
                                                                                       {"\u00BE", "3/4"},
                                                                                       {"\u00A3", "#"},
                                                                                       {"\u20AC", "$"},
                                                                                       {"\u00A2", "cents"},
                                                                                       {"---", "--"},
                                                                                       {"----", "--"}}};

/// ’s becomes 's; apostrophes inside words stay.
bool is_curly_clitic(std::string_view lower) {
  constexpr std::string_view kCurly = "\u2019";
  if (lower == "n\u2019t") return true;
  if (!lower.starts_with(kCurly)) return false;
  const std::string_view rest = lower.substr(kCurly.size());
  return rest == "s" || rest == "m" || rest == "d" || rest == "re" || rest == "ve" || rest == "ll";
}

std::string rewritten(std::string_view token) {
  for (const auto& [from, to] : kRewritten)
    if (token == from) return std::string(to);
  std::string lower = ptb_lower_case(token);
  if (is_curly_clitic(lower)) return lower.replace(lower.find("\u2019"), 3, "'");
  if (token.size() < 2 || token.find_first_of(":;=") == std::string_view::npos) return lower;
  for (const auto& [bracket, name] : {std::pair("(", "-lrb-"), std::pair(")", "-rrb-")}) {  // of a smiley
    const size_t at = lower.find(bracket);
    if (at != std::string::npos) lower.replace(at, 1, name);
  }
  return lower;
}

/// "22 3/4" is one scanner token and two words.
void append_words(std::string_view token, std::vector<std::string>& words) {
  while (!token.empty()) {
    const size_t space = std::min(token.find(' '), token.size());
    std::string word = rewritten(token.substr(0, space));
    if (!is_punctuation(word)) words.push_back(std::move(word));
    token.remove_prefix(std::min(space + 1, token.size()));
  }
}

std::string without_soft_hyphens(std::string_view text) {
  std::string kept;
  for (size_t at = text.find(kSoftHyphen); at != std::string_view::npos; at = text.find(kSoftHyphen)) {
    kept += text.substr(0, at);
    text.remove_prefix(at + kSoftHyphen.size());
  }
  return kept += text;
}

}  // namespace

std::vector<std::string> ptb_words(std::string_view caption) {
  std::string kept;
  if (caption.find(kSoftHyphen) != std::string_view::npos) {
    kept = without_soft_hyphens(caption);
    caption = kept;
  }
  std::vector<std::string> words;
  PtbScanner scanner(caption);
  while (const auto token = scanner.next()) append_words(*token, words);
  return words;
}

}  // namespace modewise::text
