#include "modewise/data/labelled_samples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/random.h"
#include "modewise/io/number_text.h"
#include "modewise/text/canonical_form.h"

namespace modewise::data {

std::vector<int64_t> LabelledSamples::split(const std::string& name) const {
  if (name == "train") return train;
  if (name == "validation") return validation;
  if (name == "test") return test;
  std::vector<int64_t> all(labels.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

std::vector<int64_t> LabelledSamples::class_counts(std::span<const int64_t> samples) const {
  std::vector<int64_t> counts(classes.size(), 0);
  for (const int64_t i : samples)
    if (const int64_t label = labels[static_cast<size_t>(i)]; label >= 0)
      ++counts[static_cast<size_t>(label)];
  return counts;
}

std::string LabelledSamples::no_samples(std::string_view split) const {
  const bool own = split == "validation" && !validation_rule.empty();
  const std::string& rule = own ? validation_rule : split_rule;
  return fmt::format("there are no {} {}{}{}", split == "train" ? "training" : split, many,
                     rule.empty() ? "" : ": ", rule);
}

void LabelledSamples::warn(std::string text) {
  notes.insert(notes.begin() + static_cast<std::ptrdiff_t>(warnings++), std::move(text));
}

std::string LabelledSamples::sample_name(int64_t sample) const {
  return names.empty() ? numbered[static_cast<size_t>(sample)] : names[static_cast<size_t>(sample)];
}

std::string LabelledSamples::called(int64_t sample) const {
  const std::string own = sample_name(sample);
  const bool number = std::all_of(own.begin(), own.end(), [](unsigned char c) { return std::isdigit(c); });
  return number ? one + " " + own : own;
}

void NumberedNames::add(const std::string& part, size_t samples) {
  const size_t first = parts_.empty() ? 0 : parts_.back().end;
  parts_.push_back({part, first, first + samples});
}

std::string NumberedNames::operator[](size_t sample) const {
  const auto part = std::upper_bound(parts_.begin(), parts_.end(), sample,
                                     [](size_t wanted, const Part& one) { return wanted < one.end; });
  return fmt::format("{} {}", part->name, kept_.empty() ? sample - part->first + 1 : kept_[sample]);
}

void NumberedNames::keep(std::span<const int64_t> samples) {
  std::vector<uint32_t> kept;
  kept.reserve(samples.size());
  size_t part = 0;
  for (const int64_t sample : samples) {
    const auto i = static_cast<size_t>(sample);
    while (i >= parts_[part].end) ++part;
    kept.push_back(static_cast<uint32_t>(kept_.empty() ? i - parts_[part].first + 1 : kept_[i]));
  }
  for (Part& one : parts_)
    one.end = static_cast<size_t>(
        std::lower_bound(samples.begin(), samples.end(), static_cast<int64_t>(one.end)) - samples.begin());
  kept_ = std::move(kept);
}

std::string array_sample_name(std::string_view part, int64_t sample) {
  return part.empty() ? std::to_string(sample)
                      : fmt::format("{} {}", part.substr(0, part.size() - 1), sample);
}

void append_labels(LabelledSamples& set, const io::Array& array, int64_t samples, const std::string& name) {
  const bool column = array.shape.size() == 1 || (array.shape.size() == 2 && array.shape[1] == 1);
  const bool table = array.shape.size() == 2 && array.shape[0] == samples && !column;
  require(column && array.size() == samples, ErrorKind::data,
          "{}: expected {} labels, one for each {}, got shape [{}]{}", name, samples, set.one,
          fmt::join(array.shape, ", "),
          table ? fmt::format(
                      ": {} labels for each {}; of one-hot labels numpy.argmax(labels, 1) gives the classes, "
                      "several classes for one {} are not supported",
                      array.shape[1], set.one, set.one)
                : "");
  const std::vector<double> values = io::to_doubles(array);
  for (size_t i = 0; i < values.size(); ++i) {
    require(values[i] >= 0 && values[i] <= 1e6 && values[i] == std::floor(values[i]), ErrorKind::data,
            "{}: label {} of sample {} is not a whole number from 0", name, values[i], i);
    set.labels.push_back(static_cast<int64_t>(values[i]));
  }
}

namespace {

constexpr size_t kMaxLabels = 65536;

/// The names of labels that are numbers of the data: those of the training samples, of all if none is
/// training.
std::vector<std::string> names_of_labels(const LabelledSamples& set) {
  std::set<int64_t> labels;
  for (const int64_t i : set.train.empty() ? set.split("all") : set.train)
    if (const int64_t label = set.labels[static_cast<size_t>(i)]; label >= 0) labels.insert(label);
  if (labels.size() < 2) labels.insert({0, 1});  // a training is refused by its only class
  require(labels.size() <= kMaxLabels, ErrorKind::data, "{}: {} classes; at most {} are supported",
          set.source, labels.size(), kMaxLabels);
  std::vector<std::string> names;
  for (const int64_t label : labels) names.push_back(std::to_string(label));
  return names;
}

bool are_numbers(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); });
  });
}

}  // namespace

void name_classes(LabelledSamples& set, const std::vector<std::string>& names, bool are_labels) {
  are_labels = set.classes.empty() && (names.empty() || (are_labels && are_numbers(names)));
  if (!names.empty()) set.classes = names;
  if (set.classes.empty()) set.classes = names_of_labels(set);
  const NameIndex known(set.classes);
  for (size_t i = 0; i < set.labels.size(); ++i) {
    int64_t& label = set.labels[i];
    if (label < 0) continue;
    const std::optional<size_t> place =
        are_labels ? known.find(std::to_string(label)) : std::optional(static_cast<size_t>(label));
    require(place && *place < set.classes.size(), ErrorKind::data,
            "{}: label {} of sample {} is out of range: there are {} classes, {}", set.source, label,
            set.sample_name(static_cast<int64_t>(i)), set.classes.size(),
            are_labels && set.classes.back() != std::to_string(set.classes.size() - 1)
                ? listed_names(set.classes) + " (data.classes names the classes of the labels 0, 1, …)"
                : fmt::format("0 to {}", set.classes.size() - 1));
    label = static_cast<int64_t>(*place);
  }
  warn_of_similar_classes(set);
}

void add_warning(LabelledSamples& set, std::string text) {
  set.notes.insert(set.notes.begin() + static_cast<std::ptrdiff_t>(set.warnings++), std::move(text));
}

std::vector<std::pair<std::string, std::string>> similar_texts(std::span<const std::string> texts) {
  std::vector<std::pair<std::string, std::string>> out;
  std::map<std::string, std::string> first;  // text by its form without case, spaces and form of numbers
  for (const std::string& name : texts) {
    const std::string_view stripped = io::strip_spaces(name);
    std::string form;
    double number = 0;
    if (io::parse_number(stripped, '.', number) && std::abs(number) < 0x1p53)
      form = fmt::format("{}", number);
    else
      for (const char c : text::canonical_form(stripped))
        form += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const auto [other, is_new] = first.emplace(form, name);
    if (!is_new) out.emplace_back(other->second, name);
  }
  return out;
}

std::string similar_texts_differ_in(const std::string& first, const std::string& other) {
  return text::canonical_form(first) == text::canonical_form(other)
             ? "Unicode normalization (a character such as 'é' is one code point in one of them, two in the "
               "other)"
             : "case, spaces or the form of a number";
}

void warn_of_similar_classes(LabelledSamples& set) {
  for (const auto& [first, other] : similar_texts(set.classes))
    add_warning(set,
                fmt::format("{}: classes '{}' and '{}' differ only in {}; rename one of them if they are "
                            "the same class",
                            set.source, first, other, similar_texts_differ_in(first, other)));
}

void hash_contents(LabelledSamples& set, const std::function<uint64_t(size_t sample)>& hash, bool trained) {
  set.contents.clear();
  for (size_t i = 0; i < set.labels.size(); ++i) set.contents.push_back(hash(i));
  if (trained && !set.drawn.empty()) return;
  if (std::string text = copies_text(set, set.many); !text.empty()) add_warning(set, std::move(text));
}

std::vector<std::vector<int64_t>> samples_by_class(const LabelledSamples& set,
                                                   std::span<const int64_t> samples) {
  std::vector<size_t> counts(set.classes.size() + 1, 0);
  for (const int64_t i : samples) ++counts.at(static_cast<size_t>(set.labels[static_cast<size_t>(i)] + 1));
  std::vector<std::vector<int64_t>> out(counts.size());
  for (size_t k = 0; k < counts.size(); ++k) out[k].reserve(counts[k]);
  for (const int64_t i : samples)
    out.at(static_cast<size_t>(set.labels[static_cast<size_t>(i)] + 1)).push_back(i);
  return out;
}

namespace {

constexpr std::array kSplitLists = {&LabelledSamples::train, &LabelledSamples::validation,
                                    &LabelledSamples::test};

/// Applies `split` to a set whose samples are the groups of `set`, with the class of most of their samples.
template <class Split>
void split_groups(LabelledSamples& set, const Split& split) {
  std::map<std::string, size_t> numbers;
  std::vector<std::vector<int64_t>> members;
  std::vector<size_t> group_of;
  for (size_t i = 0; i < set.groups.size(); ++i) {
    const std::string name = set.groups[i].empty() ? fmt::format("\n{}", i) : set.groups[i];
    const size_t group = numbers.emplace(name, members.size()).first->second;
    if (group == members.size()) members.emplace_back();
    members[group].push_back(static_cast<int64_t>(i));
    group_of.push_back(group);
  }
  LabelledSamples whole("group", "groups");
  whole.classes = set.classes;
  for (const std::vector<int64_t>& samples : members) {
    const std::vector<int64_t> counts = set.class_counts(samples);
    const auto largest = std::max_element(counts.begin(), counts.end());
    whole.labels.push_back(largest == counts.end() || *largest == 0 ? -1 : largest - counts.begin());
  }
  for (const auto list : kSplitLists) {
    for (const int64_t i : set.*list)
      if (const size_t group = group_of[static_cast<size_t>(i)]; members[group].front() == i)
        (whole.*list).push_back(static_cast<int64_t>(group));
    (set.*list).clear();
  }
  split(whole);
  for (const auto rule : {&LabelledSamples::split_rule, &LabelledSamples::validation_rule})
    if (!(whole.*rule).empty())
      set.*rule = set.group_column.empty() ? whole.*rule
                                           : fmt::format("{}, in groups of equal '{}' (data.group_column)",
                                                         whole.*rule, set.group_column);
  for (const auto list : kSplitLists) {
    for (const int64_t group : whole.*list)
      (set.*list).insert((set.*list).end(), members[static_cast<size_t>(group)].begin(),
                         members[static_cast<size_t>(group)].end());
    std::sort((set.*list).begin(), (set.*list).end());
  }
  set.notes.push_back(fmt::format("{} groups; {} {} training, {} validation, {} test", whole.notes.back(),
                                  set.many, set.train.size(), set.validation.size(), set.test.size()));
}

}  // namespace

void split_by_class(LabelledSamples& set, const std::vector<double>& ratios, int64_t seed) {
  if (!set.groups.empty()) {
    split_groups(set, [&](LabelledSamples& groups) { split_by_class(groups, ratios, seed); });
    set.drawn = set.notes.back();
    return;
  }
  require(ratios.size() == 3 && ratios[0] > 0 && ratios[0] + ratios[1] + ratios[2] <= 1 + 1e-9,
          ErrorKind::config,
          "data.split_ratios: expected three fractions (training, validation, test) that sum to at most 1, "
          "got [{}]",
          fmt::join(ratios, ", "));
  const std::vector<std::vector<int64_t>> by_class = samples_by_class(set, set.split("all"));
  for (size_t label = 0; label < by_class.size(); ++label) {
    const std::vector<int64_t>& members = by_class[label];
    const auto n = static_cast<double>(members.size());
    const auto order =
        random_permutation(std::ssize(members), {static_cast<uint64_t>(seed), RandomSite::splits, label});
    const int64_t train = std::llround(ratios[0] * n), validation = std::llround((ratios[0] + ratios[1]) * n),
                  test = std::llround((ratios[0] + ratios[1] + ratios[2]) * n);
    for (int64_t i = 0; i < test; ++i)
      (i < train        ? set.train
       : i < validation ? set.validation
                        : set.test)
          .push_back(members[static_cast<size_t>(order[static_cast<size_t>(i)])]);
  }
  for (auto* list : {&set.train, &set.validation, &set.test}) std::sort(list->begin(), list->end());
  const bool classes = !set.classes.empty();
  set.split_rule = fmt::format("{} {}{} are split by data.split_ratios = [{}]{}", set.labels.size(), set.many,
                               classes ? fmt::format(" in {} classes", set.classes.size()) : "",
                               fmt::join(ratios, ", "), classes ? " of each class" : "");
  set.drawn =
      fmt::format("split{} with seed {}: {} training, {} validation, {} test", classes ? " by class" : "",
                  seed, set.train.size(), set.validation.size(), set.test.size());
  set.notes.push_back(set.drawn);
}

namespace {

/// Splits `set.train` again: moves `wanted` samples of each class to validation. Returns the previous number
/// of training samples.
template <class Wanted>
size_t part_training(LabelledSamples& set, int64_t seed, const Wanted& wanted) {
  std::vector<int64_t> kept, taken;
  const std::vector<std::vector<int64_t>> by_class = samples_by_class(set, set.train);
  for (size_t label = 0; label < by_class.size(); ++label) {
    const std::vector<int64_t>& members = by_class[label];
    const int64_t count = wanted(static_cast<int64_t>(label) - 1, std::ssize(members));
    const auto order =
        random_permutation(std::ssize(members), {static_cast<uint64_t>(seed), RandomSite::splits, label});
    for (int64_t i = 0; i < std::ssize(members); ++i)
      (i < count ? taken : kept).push_back(members[static_cast<size_t>(order[static_cast<size_t>(i)])]);
  }
  const size_t all = set.train.size();
  std::sort(kept.begin(), kept.end());
  std::sort(taken.begin(), taken.end());
  set.train = std::move(kept);
  set.validation = std::move(taken);
  return all;
}

}  // namespace

void take_validation(LabelledSamples& set, double share, int64_t seed) {
  if (!set.groups.empty())
    return split_groups(set, [&](LabelledSamples& groups) { take_validation(groups, share, seed); });
  const size_t all = part_training(set, seed, [&](int64_t /*label*/, int64_t members) {
    return std::llround(share * static_cast<double>(members));
  });
  const bool classes = !set.classes.empty();
  set.validation_rule = fmt::format("data.validation_share = {} takes none {}of {} training {}", share,
                                    classes ? "of any class " : "", all, set.many);
  set.notes.push_back(fmt::format("{} of {} training {} moved to validation, {}with seed {}",
                                  set.validation.size(), all, set.many, classes ? "by class " : "", seed));
}

void deal_validation(LabelledSamples& set, int64_t seed) {
  if (!set.groups.empty())
    return split_groups(set, [&](LabelledSamples& groups) { deal_validation(groups, seed); });
  std::map<int64_t, int64_t> validated;  // by label
  for (const int64_t i : set.validation) ++validated[set.labels[static_cast<size_t>(i)]];
  set.train.insert(set.train.end(), set.validation.begin(), set.validation.end());
  std::sort(set.train.begin(), set.train.end());
  const size_t all =
      part_training(set, seed, [&](int64_t label, int64_t /*members*/) { return validated[label]; });
  set.notes.push_back(
      fmt::format("{} of {} training and validation {} redrawn for validation, by class with seed {}",
                  set.validation.size(), all, set.many, seed));
}

std::vector<int64_t> leave_out(LabelledSamples& set, const std::vector<bool>& out) {
  std::vector<int64_t> place(set.labels.size(), -1), kept;
  for (size_t i = 0; i < place.size(); ++i) {
    if (out[i]) continue;
    const auto to = static_cast<size_t>(place[i] = std::ssize(kept));
    kept.push_back(static_cast<int64_t>(i));
    if (to == i) continue;
    set.labels[to] = set.labels[i];
    if (!set.names.empty()) set.names[to] = std::move(set.names[i]);
    if (!set.groups.empty()) set.groups[to] = std::move(set.groups[i]);
    if (!set.contents.empty()) set.contents[to] = set.contents[i];
  }
  set.labels.resize(kept.size());
  if (set.names.empty())
    set.numbered.keep(kept);
  else
    set.names.resize(kept.size());
  if (!set.groups.empty()) set.groups.resize(kept.size());
  if (!set.contents.empty()) set.contents.resize(kept.size());
  for (auto* list : {&set.train, &set.validation, &set.test}) {
    std::erase_if(*list, [&](int64_t i) { return place[static_cast<size_t>(i)] < 0; });
    for (int64_t& i : *list) i = place[static_cast<size_t>(i)];
  }
  return kept;
}

std::vector<int64_t> leave_test_out(LabelledSamples& set) {
  std::vector<bool> out(set.labels.size(), false);
  for (const int64_t i : set.test) out[static_cast<size_t>(i)] = true;
  return leave_out(set, out);
}

void leave_test_out(LabelledSamples& set, std::vector<at::Tensor>& samples) {
  const std::vector<int64_t> kept = leave_test_out(set);
  for (size_t to = 0; to < kept.size(); ++to)
    if (const auto from = static_cast<size_t>(kept[to]); from != to) samples[to] = std::move(samples[from]);
  samples.resize(kept.size());
}

}  // namespace modewise::data
