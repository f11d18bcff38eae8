#pragma once
// Scores of generated answers as LongBench takes them (Bai et al. 2023, its metrics.py), from 0 to 1. Texts
// are UTF-8; what Python does with characters is done with code points.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::metrics {

/// F1 of the multisets of words, both in lower case, without ASCII punctuation and articles.
double qa_f1(std::string_view prediction, std::string_view answer);
/// F of ROUGE-L as the Python package `rouge` has it: over sentences (parts between full stops), union of the
/// longest common subsequences over distinct words. 0 for empty texts.
double rouge_l(std::string_view prediction, std::string_view answer);
/// 1 / the number of class names found in the prediction when the right one is among them; names that are
/// part of the right one and not it are taken out while going through the list, as LongBench's loop does.
double classification_score(std::string_view prediction, std::string_view answer,
                            const std::vector<std::string>& classes);
/// Of the numbers in the prediction the share that equals the answer.
double count_score(std::string_view prediction, std::string_view answer);
/// The same for the number behind "Paragraph " in the answer.
double retrieval_score(std::string_view prediction, std::string_view answer);
/// fuzz.ratio / 100 of the first line without `, # or //: 2M / T of Python's difflib, rounded to whole
/// percent.
double code_similarity(std::string_view prediction, std::string_view answer);
/// 1 when both are equal after qa_f1's normalisation.
double exact_match(std::string_view prediction, std::string_view answer);

/// The names of these: qa_f1, rouge_l, classification, count, retrieval, code_sim, exact.
const std::vector<std::string>& answer_metric_names();
/// The best over the answers. Usage error for an unknown name.
double answer_score(const std::string& metric, std::string_view prediction,
                    const std::vector<std::string>& answers, const std::vector<std::string>& classes);

/// 2M / T of difflib.SequenceMatcher(None, a, b), popular characters of long texts left out as it does.
double difflib_ratio(std::u32string_view a, std::u32string_view b);
/// Bytes that are no UTF-8 become U+FFFD, one each.
std::u32string code_points(std::string_view text);

}  // namespace modewise::metrics
