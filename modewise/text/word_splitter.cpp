#include "modewise/text/word_splitter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "modewise/io/utf8.h"

namespace modewise::text {
namespace {

using Behavior = io::TokenizerJson::Step::Behavior;
using Kind = io::TokenizerJson::Step::Kind;

constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace

WordSplitter::WordSplitter(std::vector<Step> steps, const std::string& source) {
  for (Step& step : steps) {
    PreparedStep prepared;
    if (step.kind == Kind::split)
      prepared.pattern.emplace_back(step.pattern, step.literal, source);
    else if (step.kind == Kind::digits)
      prepared.pattern.emplace_back(step.individual_digits ? "\\p{N}" : "\\p{N}+", false, source);
    else if (step.gpt2_pattern)
      prepared.pattern.emplace_back(kGpt2Pattern, false, source);
    prepared.step = std::move(step);
    steps_.push_back(std::move(prepared));
  }
}

// Splits the text into matches and the parts between them; an empty match splits the text around it.
template <class Take>
void WordSplitter::parts(const SplitPattern& pattern, std::string_view text,
                         SplitPattern::Workspace& workspace, Take&& take) const {
  workspace.announce(text.size());
  size_t taken = 0, from = 0;
  std::optional<size_t> last_end;
  while (from <= text.size()) {
    const auto match = pattern.find(text, from, workspace);
    if (!match) break;
    if (match->begin == match->end && last_end == match->end) {
      from += std::max<size_t>(1, io::utf8_length(text.substr(from)));
      continue;
    }
    from = match->end;
    last_end = match->end;
    if (taken < match->begin) take(Part{text.substr(taken, match->begin - taken), false});
    take(Part{text.substr(match->begin, match->end - match->begin), true});
    taken = match->end;
  }
  if (taken < text.size()) take(Part{text.substr(taken), false});
}

// Joins or drops the parts according to the step's behavior.
template <class Take>
void WordSplitter::joined(const PreparedStep& prepared, std::string_view text,
                          SplitPattern::Workspace& workspace, Take&& take) const {
  const Step& step = prepared.step;
  const Behavior behavior = step.kind == Kind::split ? step.behavior : Behavior::isolated;
  std::optional<Part> held;  // pending, since the next part may join it
  const auto join = [&](const Part& part) {
    held->text = {held->text.data(), held->text.size() + part.text.size()};
  };
  parts(prepared.pattern.front(), text, workspace, [&](Part part) {
    part.matches = part.matches != (step.kind == Kind::split && step.invert);
    if (behavior == Behavior::isolated) {
      take(part.text);
    } else if (behavior == Behavior::removed) {
      if (!part.matches) take(part.text);
    } else {
      const bool joins =
          held && (behavior == Behavior::contiguous             ? part.matches == held->matches
                   : behavior == Behavior::merged_with_previous ? part.matches && !held->matches
                                                                : !part.matches && held->matches);
      if (joins) {
        join(part);
        held->matches = part.matches;
      } else {
        if (held) take(held->text);
        held = part;
      }
    }
  });
  if (held) take(held->text);
}

void WordSplitter::run(size_t index, std::string_view text, SplitPattern::Workspace& workspace,
                       const Word& word) const {
  if (text.empty()) return;
  if (index == steps_.size()) {
    word(text);
    return;
  }
  const PreparedStep& prepared = steps_[index];
  std::string with_space;
  if (prepared.step.kind == Kind::byte_level && prepared.step.add_prefix_space && !text.starts_with(' ')) {
    with_space.reserve(text.size() + 1);
    with_space += ' ';
    with_space += text;
    text = with_space;
  }
  if (prepared.pattern.empty())
    run(index + 1, text, workspace, word);
  else
    joined(prepared, text, workspace, [&](std::string_view part) { run(index + 1, part, workspace, word); });
}

void WordSplitter::split(std::string_view text, SplitPattern::Workspace& workspace, const Word& word) const {
  run(0, text, workspace, word);
}

}  // namespace modewise::text
