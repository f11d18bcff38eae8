#pragma once
// A regular expression that splits text, in Oniguruma's syntax as tokenizer.json has it, run by PCRE2. What
// the two engines read differently is rewritten or refused.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace modewise::text {

class SplitPattern {
 public:
  struct Match {
    size_t begin, end;
  };
  /// Room for one search at a time.
  class Workspace {
   public:
    Workspace();
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

   private:
    friend class SplitPattern;
    struct State;
    std::unique_ptr<State> state_;
  };

  /// Throws a data error that begins with `source` for a pattern that does not compile or cannot be read.
  SplitPattern(const std::string& pattern, bool literal, const std::string& source);
  ~SplitPattern();
  SplitPattern(SplitPattern&& other) noexcept;
  SplitPattern& operator=(SplitPattern&& other) noexcept;

  /// The first match at or after `from` in valid UTF-8. Throws a data error when matching takes too many
  /// steps.
  std::optional<Match> find(std::string_view text, size_t from, Workspace& workspace) const;

 private:
  struct Code;
  [[noreturn]] void give_up(std::string_view what) const;

  std::unique_ptr<Code> code_;
  std::string pattern_, source_;
};

/// `pattern` for PCRE2. Throws a data error that begins with `source`.
std::string pattern_for_pcre2(std::string_view pattern, const std::string& source);

}  // namespace modewise::text
