#pragma once
// LongBench metrics of generated answers (Bai et al. 2023, metrics.py), from 0 to 1. Texts are UTF-8,
// processed by code point as in Python.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::metrics {

/// F1 of the multisets of words, in lower case, without ASCII punctuation and articles.
double qa_f1(std::string_view prediction, std::string_view answer);
/// ROUGE-L F as in the Python package `rouge`: over sentences (parts between full stops), union of the
/// longest common subsequences over distinct words. 0 for empty texts.
double rouge_l(std::string_view prediction, std::string_view answer);
/// 1 / the number of class names found in the prediction if the correct one is among them; other names that
/// are part of the correct one are removed while iterating over the list, as in LongBench.
double classification_score(std::string_view prediction, std::string_view answer,
                            const std::vector<std::string>& classes);
/// Fraction of the numbers in the prediction that equal the answer.
double count_score(std::string_view prediction, std::string_view answer);
/// The same for the number after "Paragraph " in the answer.
double retrieval_score(std::string_view prediction, std::string_view answer);
/// fuzz.ratio / 100 of the first line without `, # or //: 2M / T of Python's difflib, rounded to whole
/// percent.
double code_similarity(std::string_view prediction, std::string_view answer);
/// 1 if both are equal after the normalisation of qa_f1.
double exact_match(std::string_view prediction, std::string_view answer);

/// Names of the metrics: qa_f1, rouge_l, classification, count, retrieval, code_sim, exact.
const std::vector<std::string>& answer_metric_names();
/// Maximum over the answers. Usage error for an unknown metric.
double answer_score(const std::string& metric, std::string_view prediction,
                    const std::vector<std::string>& answers, const std::vector<std::string>& classes);

/// 2M / T of difflib.SequenceMatcher(None, a, b), which ignores popular characters of long texts.
double difflib_ratio(std::u32string_view a, std::u32string_view b);
/// Decodes UTF-8; each invalid byte becomes U+FFFD.
std::u32string code_points(std::string_view text);

}  // namespace modewise::metrics
