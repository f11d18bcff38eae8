#include "modewise/metrics/answer_metrics.h"

#include <fmt/ranges.h>
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/io/utf8.h"

namespace modewise::metrics {
namespace {

/// A locale with Unicode character classes and cases, independent of the environment.
locale_t unicode_locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

char32_t lower(char32_t c) {
  if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return unicode_locale() == nullptr
             ? c
             : static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), unicode_locale()));
}

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_word(char32_t c) {
  if (c < 128) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  return unicode_locale() != nullptr && iswalnum_l(static_cast<wint_t>(c), unicode_locale()) != 0;
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

std::vector<std::u32string> split_words(std::u32string_view text) {
  std::vector<std::u32string> words;
  bool inside = false;
  for (const char32_t c : text) {
    if (is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    words.back() += c;
    inside = true;
  }
  return words;
}

/// Words in lower case, without punctuation and articles.
std::vector<std::u32string> normalized_words(std::string_view text) {
  std::u32string plain;
  for (const char32_t c : code_points(text))
    if (!is_ascii_punctuation(c)) plain += lower(c);
  // \b(a|an|the)\b: whole runs of word characters.
  std::u32string kept;
  for (size_t i = 0; i < plain.size();) {
    if (!is_word(plain[i])) {
      kept += plain[i++];
      continue;
    }
    size_t end = i;
    while (end < plain.size() && is_word(plain[end])) ++end;
    const std::u32string_view word = std::u32string_view(plain).substr(i, end - i);
    if (word == U"a" || word == U"an" || word == U"the")
      kept += U' ';
    else
      kept += word;
    i = end;
  }
  return split_words(kept);
}

/// Sentences as in the package `rouge`: parts between full stops, split into words.
std::vector<std::vector<std::u32string>> sentences(std::string_view text) {
  std::vector<std::vector<std::u32string>> out;
  const std::u32string all = code_points(text);
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(U'.', begin), all.size());
    if (end > begin) {
      // `rouge` joins the words by spaces and splits at spaces: a sentence of white space is one empty word.
      auto words = split_words(std::u32string_view(all).substr(begin, end - begin));
      if (words.empty()) words.emplace_back();
      out.push_back(std::move(words));
    }
    begin = end + 1;
  }
  return out;
}

/// The words of one longest common subsequence, the one that the package's recursion finds.
std::set<std::u32string> common_subsequence(const std::vector<std::u32string>& x,
                                            const std::vector<std::u32string>& y) {
  const size_t n = x.size(), m = y.size();
  std::vector<int32_t> table((n + 1) * (m + 1), 0);
  const auto at = [&](size_t i, size_t j) -> int32_t& { return table[i * (m + 1) + j]; };
  for (size_t i = 1; i <= n; ++i)
    for (size_t j = 1; j <= m; ++j)
      at(i, j) = x[i - 1] == y[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
  std::set<std::u32string> words;
  for (size_t i = n, j = m; i > 0 && j > 0;) {
    if (x[i - 1] == y[j - 1]) {
      words.insert(x[i - 1]);
      --i;
      --j;
    } else if (at(i - 1, j) > at(i, j - 1)) {
      --i;
    } else {
      --j;
    }
  }
  return words;
}

std::vector<std::string> numbers_in(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) out.emplace_back();
    if (digit) out.back() += c;
    inside = digit;
  }
  return out;
}

double share_equal(const std::vector<std::string>& numbers, const std::string& wanted) {
  if (numbers.empty()) return 0;
  return static_cast<double>(std::count(numbers.begin(), numbers.end(), wanted)) /
         static_cast<double>(numbers.size());
}

/// difflib's longest matching block of a[alo, ahi) and b[blo, bhi): the first in a, then in b, of the
/// longest.
struct MatchingBlock {
  size_t a = 0, b = 0, size = 0;
};

class DifflibMatcher {
 public:
  DifflibMatcher(std::u32string_view a, std::u32string_view b) : a_(a), b_(b) {
    for (size_t j = 0; j < b.size(); ++j) places_[b[j]].push_back(j);
    if (b.size() < 200) return;
    const size_t popular = b.size() / 100 + 1;
    std::erase_if(places_, [&](const auto& entry) { return entry.second.size() > popular; });
  }

  size_t matches() const {
    size_t sum = 0;
    std::vector<std::array<size_t, 4>> queue = {{0, a_.size(), 0, b_.size()}};
    while (!queue.empty()) {
      const auto [alo, ahi, blo, bhi] = queue.back();
      queue.pop_back();
      const MatchingBlock block = longest(alo, ahi, blo, bhi);
      if (block.size == 0) continue;
      sum += block.size;
      if (alo < block.a && blo < block.b) queue.push_back({alo, block.a, blo, block.b});
      if (block.a + block.size < ahi && block.b + block.size < bhi)
        queue.push_back({block.a + block.size, ahi, block.b + block.size, bhi});
    }
    return sum;
  }

 private:
  MatchingBlock longest(size_t alo, size_t ahi, size_t blo, size_t bhi) const {
    MatchingBlock best{alo, blo, 0};
    std::unordered_map<size_t, size_t> lengths, next;  // of the match that ends at a position of b
    for (size_t i = alo; i < ahi; ++i) {
      next.clear();
      const auto found = places_.find(a_[i]);
      if (found != places_.end())
        for (const size_t j : found->second) {
          if (j < blo) continue;
          if (j >= bhi) break;
          const auto before = j > 0 ? lengths.find(j - 1) : lengths.end();
          const size_t k = (before == lengths.end() ? 0 : before->second) + 1;
          next[j] = k;
          if (k > best.size) best = {i + 1 - k, j + 1 - k, k};
        }
      lengths.swap(next);
    }
    // Popular characters, ignored above, may still extend the block.
    while (best.a > alo && best.b > blo && a_[best.a - 1] == b_[best.b - 1]) --best.a, --best.b, ++best.size;
    while (best.a + best.size < ahi && best.b + best.size < bhi &&
           a_[best.a + best.size] == b_[best.b + best.size])
      ++best.size;
    return best;
  }

  std::u32string_view a_, b_;
  std::unordered_map<char32_t, std::vector<size_t>> places_;
};

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (size_t i = 0, length = 0; i < text.size(); i += std::max<size_t>(length, 1)) {
    length = io::utf8_length(text.substr(i));
    const auto first = static_cast<unsigned char>(text[i]);
    char32_t c = length == 0 ? U'\uFFFD' : length == 1 ? first : first & (0x7F >> length);
    for (size_t k = 1; k < length; ++k) c = c << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    out += c;
  }
  return out;
}

double qa_f1(std::string_view prediction, std::string_view answer) {
  const auto predicted = normalized_words(prediction), wanted = normalized_words(answer);
  std::map<std::u32string, int64_t> counts;
  for (const auto& word : wanted) ++counts[word];
  int64_t same = 0;
  for (const auto& word : predicted)
    if (const auto found = counts.find(word); found != counts.end() && found->second > 0) {
      --found->second;
      ++same;
    }
  if (same == 0) return 0;
  const double precision = static_cast<double>(same) / static_cast<double>(predicted.size());
  const double recall = static_cast<double>(same) / static_cast<double>(wanted.size());
  return 2 * precision * recall / (precision + recall);
}

double rouge_l(std::string_view prediction, std::string_view answer) {
  const auto predicted = sentences(prediction), wanted = sentences(answer);
  if (predicted.empty() || wanted.empty()) return 0;
  const auto distinct = [](const std::vector<std::vector<std::u32string>>& all) {
    std::set<std::u32string> words;
    for (const auto& sentence : all) words.insert(sentence.begin(), sentence.end());
    return static_cast<double>(words.size());
  };
  // Each sentence of the answer adds the words of its union of subsequences that earlier sentences do not
  // have.
  std::set<std::u32string> all;
  for (const auto& reference : wanted)
    for (const auto& sentence : predicted) all.merge(common_subsequence(reference, sentence));
  const auto common = static_cast<double>(all.size());
  const double recall = common / distinct(wanted), precision = common / distinct(predicted);
  return 2 * (precision * recall / (precision + recall + 1e-8));
}

double classification_score(std::string_view prediction, std::string_view answer,
                            const std::vector<std::string>& classes) {
  std::vector<std::string> found;
  for (const std::string& name : classes)
    if (prediction.find(name) != std::string_view::npos) found.push_back(name);
  // As in Python: removing an element while iterating skips the next one.
  for (size_t i = 0; i < found.size(); ++i) {
    if (answer.find(found[i]) == std::string_view::npos || found[i] == answer) continue;
    found.erase(std::find(found.begin(), found.end(), std::string(found[i])));
  }
  if (std::find(found.begin(), found.end(), answer) == found.end()) return 0;
  return 1.0 / static_cast<double>(found.size());
}

double count_score(std::string_view prediction, std::string_view answer) {
  return share_equal(numbers_in(prediction), std::string(answer));
}

double retrieval_score(std::string_view prediction, std::string_view answer) {
  constexpr std::string_view word = "Paragraph ";
  for (size_t at = answer.find(word); at != std::string_view::npos; at = answer.find(word, at + 1)) {
    const std::string_view behind = answer.substr(at + word.size());
    if (behind.empty() || behind.front() < '0' || behind.front() > '9') continue;
    return share_equal(numbers_in(prediction), numbers_in(behind).front());
  }
  fail(ErrorKind::data, "a retrieval answer must contain 'Paragraph NUMBER', got '{}'", answer.substr(0, 80));
}

double difflib_ratio(std::u32string_view a, std::u32string_view b) {
  if (a.empty() && b.empty()) return 1;
  return 2.0 * static_cast<double>(DifflibMatcher(a, b).matches()) / static_cast<double>(a.size() + b.size());
}

double code_similarity(std::string_view prediction, std::string_view answer) {
  prediction.remove_prefix(std::min(prediction.find_first_not_of('\n'), prediction.size()));
  std::string_view line;
  for (size_t begin = 0; begin <= prediction.size();) {
    const size_t end = std::min(prediction.find('\n', begin), prediction.size());
    const std::string_view one = prediction.substr(begin, end - begin);
    if (one.find_first_of("`#") == std::string_view::npos && one.find("//") == std::string_view::npos) {
      line = one;
      break;
    }
    begin = end + 1;
  }
  if (line == answer) return 1;
  // Python rounds halves to even.
  return std::nearbyint(100 * difflib_ratio(code_points(line), code_points(answer))) / 100;
}

double exact_match(std::string_view prediction, std::string_view answer) {
  return normalized_words(prediction) == normalized_words(answer) ? 1 : 0;
}

const std::vector<std::string>& answer_metric_names() {
  static const std::vector<std::string> names = {"qa_f1",     "rouge_l",  "classification", "count",
                                                 "retrieval", "code_sim", "exact"};
  return names;
}

double answer_score(const std::string& metric, std::string_view prediction,
                    const std::vector<std::string>& answers, const std::vector<std::string>& classes) {
  const auto one = [&](const std::string& answer) {
    if (metric == "qa_f1") return qa_f1(prediction, answer);
    if (metric == "rouge_l") return rouge_l(prediction, answer);
    if (metric == "classification") return classification_score(prediction, answer, classes);
    if (metric == "count") return count_score(prediction, answer);
    if (metric == "retrieval") return retrieval_score(prediction, answer);
    if (metric == "code_sim") return code_similarity(prediction, answer);
    if (metric == "exact") return exact_match(prediction, answer);
    fail(ErrorKind::usage, "unknown metric '{}' (expected {}){}", metric,
         fmt::join(answer_metric_names(), ", "), nearest_name_hint(metric, answer_metric_names()));
  };
  double best = 0;
  for (const std::string& answer : answers) best = std::max(best, one(answer));
  return best;
}

}  // namespace modewise::metrics
