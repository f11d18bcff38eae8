#pragma once
// Training, judging and scoring of whatever gives classes to samples.
//
// predictions.npz keeps scores and labels of the validation and test samples; metrics.json gains "validation"
// and, where training reads it, "test".

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "modewise/data/labelled_samples.h"
#include "modewise/tasks/kind.h"
#include "modewise/tasks/labelled/class_metrics.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/run_folder.h"
#include "modewise/train/task.h"

namespace modewise::tasks {

/// The scores of samples, with their labels.
using Scorer = std::function<ScoreTable(std::span<const int64_t> samples)>;

/// Data errors for a sample without a class, and for a part without samples; the test part may be missing
/// where it is left unread.
void require_labels(const data::LabelledSamples& set, std::span<const int64_t> samples);
void require_parts(const data::LabelledSamples& set, bool with_test);
/// {"train": …, "validation": …, "test": …}.
nlohmann::ordered_json part_sizes(const data::LabelledSamples& set);
/// Logs what was done to the set.
void log_notes(const data::LabelledSamples& set);

/// What else a judgement of the test samples leaves.
using AfterTest = std::function<void(const ScoreTable&, const ClassMetrics&)>;

/// Trains, and judges by `score` once that is over; `with_test`: on the test samples too. The metrics are
/// still to be written. Throws train::EvaluationInterrupted when a signal came after the training.
TrainedRun train_and_judge(train::Task& task, const train::TrainConfig& config,
                           const data::LabelledSamples& set, train::RunFolder& run, bool resume,
                           bool accept_changes, const Scorer& score, const AfterTest& after_test = {});

/// Judges a run on the test samples that its training left unread, and writes what training would have.
/// `set` is the run's own, whole, and `hash` its hash. Returns the evaluation.
nlohmann::ordered_json judge_left_out_test(const train::RunFolder& run, const data::LabelledSamples& set,
                                           const std::string& hash, const Scorer& score,
                                           const AfterTest& after_test = {});

/// The scores of a split; data error when it is empty or, where they are to be `labelled`, a sample has no
/// class.
ScoreTable score_split(const data::LabelledSamples& set, const std::string& split, const Scorer& score,
                       bool labelled = true);

}  // namespace modewise::tasks
