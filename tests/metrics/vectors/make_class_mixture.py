"""Writes class_mixture.json: greedy ensemble weights of classifiers and their cross-validation, by trying every pick and fold with
NumPy and scikit-learn.

    pip install numpy scikit-learn && python tests/metrics/vectors/make_class_mixture.py
"""

import json
import math
import pathlib

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

FOLDS = 5


def area(positive, scores):
    """scikit-learn's AUC, counted in whole pairs, so that equal values are bit-identical."""
    apart = scores[positive][:, None] - scores[~positive][None]
    out = (2 * int((apart > 0).sum()) + int((apart == 0).sum())) / (2.0 * apart.size)
    assert math.isclose(out, roc_auc_score(positive, scores), abs_tol=1e-12)
    return out


def auc(scores, labels):
    classes = scores.shape[1]
    asked = [1] if classes == 2 else range(classes)
    each = [area(labels == k, scores[:, k]) for k in asked if 0 < (labels == k).sum() < len(labels)]
    return sum(each) / len(each) if each else -math.inf


def called(scores):
    return (scores[:, 1] > 0.5).astype(int) if scores.shape[1] == 2 else scores.argmax(1)


def loss(scores, labels):
    """Rows need not sum to 1, as scikit-learn requires."""
    return float(-np.mean(np.log([row[label] for row, label in zip(scores, labels)]))) if len(labels) else 0.0


def figure(tables, labels, select):
    """(metric, −log loss), means over parts; higher is better for both."""
    losses = [loss(table, truth) for table, truth in zip(tables, labels)]
    chosen = {"auc": lambda: [auc(table, truth) for table, truth in zip(tables, labels)],
              "accuracy": lambda: [accuracy_score(truth, called(table)) if len(truth) else -math.inf for table, truth in zip(tables, labels)],
              "loss": lambda: [-value for value in losses]}[select]()  # fmt: skip
    return sum(chosen) / len(chosen), -sum(losses) / len(losses)


def greedy(models, labels, select, picks):
    """models[m][p]: the scores of model m in part p."""
    bag, best, best_bag = [], None, []
    for _ in range(picks):
        tried = [figure([sum(models[i][p] for i in [*bag, m]) / (len(bag) + 1) for p in range(len(labels))], labels, select)
                 for m in range(len(models))]  # fmt: skip
        bag.append(max(range(len(models)), key=lambda m: (tried[m], -m)))
        if best is None or tried[bag[-1]] > best:
            best, best_bag = tried[bag[-1]], list(bag)
    return np.bincount(best_bag, minlength=len(models)) / len(best_bag)


def mean_of(models, weights, part):
    return sum(weight * model[part] for weight, model in zip(weights, models))


def evaluated(models, labels, select, picks):
    count = len(labels)
    if count > 1:
        out = []
        for part in range(count):
            others = [p for p in range(count) if p != part]
            weights = greedy([[model[p] for p in others] for model in models], [labels[p] for p in others], select, picks)
            out.append(mean_of(models, weights, part))
        return out
    truth = labels[0]
    folds = np.array([(truth[:i] == truth[i]).sum() % FOLDS for i in range(len(truth))])
    scores = np.zeros_like(models[0][0])
    for fold in range(FOLDS):
        away = folds != fold
        weights = greedy([[model[0][away]] for model in models], [truth[away]], select, picks)
        scores[~away] = mean_of(models, weights, 0)[~away]
    return [scores]


def case(number, classes, count, sizes, select, picks):
    draw = np.random.default_rng(number)
    labels = [draw.integers(0, classes, size) for size in sizes]
    models = []
    for _ in range(count):
        skill = draw.uniform(0.2, 2.5)
        parts = []
        for truth in labels:
            logits = draw.normal(0, 1, (len(truth), classes))
            logits[np.arange(len(truth)), truth] += skill
            scores = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
            parts.append(np.clip(np.round(scores * 1000), 1, 999) / 1000)
        models.append(parts)
    weights = greedy(models, labels, select, picks)
    alone = max(range(count), key=lambda m: (figure(models[m], labels, select), -m))
    mixed = evaluated(models, labels, select, picks)
    better = figure(mixed, labels, select) > figure(models[alone], labels, select)
    if not better:
        mixed = models[alone]
    return {"classes": classes, "select": select, "picks": picks, "labels": [truth.tolist() for truth in labels],
            "thousandths": [[np.round(part * 1000).astype(int).ravel().tolist() for part in parts] for parts in models],
            "greedy": weights.tolist(), "mixed": weights.tolist() if better else np.eye(count)[alone].tolist(),
            "judged": [part.ravel().tolist() for part in mixed]}  # fmt: skip


def main():
    shapes = [(2, 1, [7]), (2, 3, [31]), (3, 5, [33]), (5, 4, [63]), (2, 2, [5, 5, 5]), (3, 3, [7, 8, 9]), (3, 4, [17] * 5)]
    cases = [case(10 * s + n, *shape, select, picks)
             for s, shape in enumerate(shapes)
             for n, (select, picks) in enumerate((("accuracy", 20), ("auc", 17), ("loss", 31), ("accuracy", 1)))]  # fmt: skip
    known = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    assert math.isclose(loss(np.array(known), [0, 1, 1]), log_loss([0, 1, 1], np.array(known)))
    kinds = [sum(weight > 0 for weight in one["mixed"]) > 1 for one in cases]
    assert min(kinds.count(True), kinds.count(False)) >= 5
    pathlib.Path(__file__).with_name("class_mixture.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
