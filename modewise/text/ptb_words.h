#pragma once
// Caption tokenizer of the COCO caption evaluation: Penn Treebank tokens of the Stanford tokenizer (CoreNLP
// 3.4.1, lower case), without the punctuation that the evaluation drops.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::text {

/// The words of one caption: "The dog's, isn't it?" is the dog 's is n't it. Clitics and n't are separate
/// words, abbreviations keep their period, brackets become -lrb- etc. Invalid UTF-8 separates words.
/// docs/captioning-metrics.md lists the differences from the Stanford tokenizer.
std::vector<std::string> ptb_words(std::string_view caption);

}  // namespace modewise::text
