#pragma once
// A regular expression that splits text, in Oniguruma's syntax as tokenizer.json has it, run by PCRE2. What
// the two engines read differently is rewritten or refused.

#include <cstddef>
#include <cstdint>
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
  /// Room for one search at a time, and how many steps searches may take: a multiple of the bytes that were
  /// announced, so that no pattern takes more time than in proportion to the text.
  class Workspace {
   public:
    static constexpr uint64_t kStepsPerByte = 128, kStepsAtLeast = 100'000;

    Workspace();
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    /// Searches will go through `bytes` more.
    void announce(size_t bytes);
    /// Steps taken so far: characters that repeats have passed and ways that were tried.
    uint64_t steps() const;

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

  /// The first match at or after `from` in valid UTF-8. Throws a data error when matching takes more steps
  /// than the workspace allows.
  std::optional<Match> find(std::string_view text, size_t from, Workspace& workspace) const;

 private:
  struct Code;
  [[noreturn]] void give_up(std::string_view what) const;

  std::unique_ptr<Code> code_;
  std::string pattern_, source_;
};

/// `pattern` for PCRE2, with a callout behind every repeat and every group: no search goes far without
/// passing one. Throws a data error that begins with `source`.
std::string pattern_for_pcre2(std::string_view pattern, const std::string& source);

}  // namespace modewise::text
