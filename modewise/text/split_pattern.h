#pragma once
// Regular expression of a pre-tokenizer, in Oniguruma's syntax as in tokenizer.json, run by PCRE2. Constructs
// that the two engines interpret differently are rewritten or refused.

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
  /// Memory of one search at a time, and its step limit: a multiple of the announced bytes, so that the time
  /// of any pattern is linear in the text.
  class Workspace {
   public:
    static constexpr uint64_t kStepsPerByte = 128, kStepsAtLeast = 100'000;

    Workspace();
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    /// Raises the step limit for searches over `bytes` more bytes.
    void announce(size_t bytes);
    /// Steps taken so far: characters passed by repeats plus alternatives tried.
    uint64_t steps() const;

   private:
    friend class SplitPattern;
    struct State;
    std::unique_ptr<State> state_;
  };

  /// Throws a data error that begins with `source` if the pattern does not compile or is not supported.
  SplitPattern(const std::string& pattern, bool literal, const std::string& source);
  ~SplitPattern();
  SplitPattern(SplitPattern&& other) noexcept;
  SplitPattern& operator=(SplitPattern&& other) noexcept;

  /// The first match at or after `from` in valid UTF-8. Throws a data error if matching exceeds the step
  /// limit.
  std::optional<Match> find(std::string_view text, size_t from, Workspace& workspace) const;

 private:
  struct Code;
  [[noreturn]] void give_up(std::string_view what) const;

  std::unique_ptr<Code> code_;
  std::string pattern_, source_;
};

/// Translates `pattern` to PCRE2, with a callout after every repeat and group, which bounds the work between
/// callouts. Throws a data error that begins with `source`.
std::string pattern_for_pcre2(std::string_view pattern, const std::string& source);

}  // namespace modewise::text
