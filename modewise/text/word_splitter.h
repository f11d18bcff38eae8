#pragma once
// Pre-tokenization for byte-level BPE: split patterns, digits, and GPT-2's pattern.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/split_pattern.h"

namespace modewise::text {

class WordSplitter {
 public:
  using Step = io::TokenizerJson::Step;
  using Word = std::function<void(std::string_view)>;

  /// Throws data errors that begin with `source` for unsupported patterns.
  WordSplitter(std::vector<Step> steps, const std::string& source);

  /// Calls `word` for the words of `text`, which is valid UTF-8, in order.
  void split(std::string_view text, SplitPattern::Workspace& workspace, const Word& word) const;

 private:
  struct PreparedStep {
    Step step;
    std::vector<SplitPattern> pattern;  // one, or none if the step does not split
  };
  struct Part {
    std::string_view text;
    bool matches;
  };
  void run(size_t step, std::string_view text, SplitPattern::Workspace& workspace, const Word& word) const;
  template <class Take>
  void parts(const SplitPattern& pattern, std::string_view text, SplitPattern::Workspace& workspace,
             Take&& take) const;
  template <class Take>
  void joined(const PreparedStep& step, std::string_view text, SplitPattern::Workspace& workspace,
              Take&& take) const;

  std::vector<PreparedStep> steps_;
};

}  // namespace modewise::text
