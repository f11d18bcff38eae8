#include "modewise/text/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <fmt/format.h>

#include <new>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::text {
namespace {

// PCRE2's own match limit per start position: a second safeguard besides the step limit of the workspace.
constexpr uint32_t kMatchLimit = 200'000'000;
constexpr uint32_t kInterpreterLimit = 20'000'000;
constexpr uint32_t kHeapKiB = 64 * 1024;

std::string reason(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct SplitPattern::Code {
  pcre2_code* compiled = nullptr;
  bool quick = false;  // JIT-compiled
  ~Code() { pcre2_code_free(compiled); }
};

struct SplitPattern::Workspace::State {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  uint64_t steps = 0, allowed = kStepsAtLeast;
  size_t begin = 0, reached = 0;  // begin of the current match attempt, and position of its last callout
  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
};

SplitPattern::Workspace::Workspace() : state_(std::make_unique<State>()) {
  if (state_->data == nullptr || state_->context == nullptr) throw std::bad_alloc();
  pcre2_set_heap_limit(state_->context, kHeapKiB);
  // A forward move costs the characters passed, and every alternative tried costs one step.
  const auto count = [](pcre2_callout_block* callout, void* data) {
    auto& state = *static_cast<State*>(data);
    const size_t at = callout->current_position;
    if (callout->start_match != state.begin) state.begin = state.reached = callout->start_match;
    state.steps += 1 + (at > state.reached ? at - state.reached : 0);
    state.reached = at;
    return state.steps > state.allowed ? PCRE2_ERROR_CALLOUT : 0;
  };
  pcre2_set_callout(state_->context, count, state_.get());
}
SplitPattern::Workspace::~Workspace() = default;

void SplitPattern::Workspace::announce(size_t bytes) {
  state_->allowed += kStepsPerByte * bytes;
}
uint64_t SplitPattern::Workspace::steps() const {
  return state_->steps;
}

SplitPattern::SplitPattern(const std::string& pattern, bool literal, const std::string& source)
    : code_(std::make_unique<Code>()), pattern_(pattern), source_(source) {
  const std::string text = literal ? pattern : pattern_for_pcre2(pattern, source);
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  size_t at = 0;
  const uint32_t options =
      PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_NEVER_BACKSLASH_C | PCRE2_UCP | PCRE2_MULTILINE);
  code_->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options, &error,
                                  &at, context.get());
  require(code_->compiled != nullptr, ErrorKind::data,
          "{}: the pattern {} does not compile: {} at character {}", source,
          io::quote_for_message(pattern, 200), reason(error), at);
  code_->quick = pcre2_jit_compile(code_->compiled, PCRE2_JIT_COMPLETE) == 0;
}

SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern&& other) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&& other) noexcept = default;

void SplitPattern::give_up(std::string_view what) const {
  fail(ErrorKind::data, "{}: the pattern {} {}", source_, io::quote_for_message(pattern_, 200), what);
}

std::optional<SplitPattern::Match> SplitPattern::find(std::string_view text, size_t from,
                                                      Workspace& workspace) const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  Workspace::State& state = *workspace.state_;
  state.begin = state.reached = from;
  int result = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->quick) {
    pcre2_set_match_limit(state.context, kMatchLimit);
    result = pcre2_jit_match(code_->compiled, subject, text.size(), from, PCRE2_NO_UTF_CHECK, state.data,
                             state.context);
  }
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) {
    pcre2_set_match_limit(state.context, kInterpreterLimit);
    result = pcre2_match(code_->compiled, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                         state.data, state.context);
  }
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
  if (result == PCRE2_ERROR_CALLOUT)
    give_up(fmt::format("gives up on the text from byte {} on: more than {} steps, {} per byte", from,
                        state.allowed, Workspace::kStepsPerByte));
  if (result < 0) give_up(fmt::format("gives up on the text from byte {} on: {}", from, reason(result)));
  const size_t* ends = pcre2_get_ovector_pointer(state.data);
  // \K can put the begin after the end or before the start of the search; neither splits a text.
  if (ends[0] > ends[1] || ends[0] < from) give_up("matches backwards");
  return Match{ends[0], ends[1]};
}

}  // namespace modewise::text
