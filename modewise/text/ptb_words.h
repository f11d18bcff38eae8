#pragma once
// Captions as words, as the evaluation of COCO captions has them: the Penn Treebank tokens of the Stanford
// tokenizer (CoreNLP 3.4.1, lower case), less the marks of punctuation that the evaluation leaves out.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::text {

/// The words of one caption: "The dog's, isn't it?" is the dog 's is n't it. Clitics and n't stand apart,
/// abbreviations keep their period, brackets become -lrb- and the like. Any bytes are read; what is no UTF-8
/// separates words. docs/captioning-metrics.md says where it differs from the tokenizer that it follows.
std::vector<std::string> ptb_words(std::string_view caption);

}  // namespace modewise::text
