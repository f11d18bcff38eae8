"""Writes classify_metrics.json: AUC and accuracy of 1,000 score tables, by MedMNIST's evaluator (its functions getAUC
and getACC written out below, over scikit-learn). The tables come from a formula, so that the file has only results.

Run in this folder: python make_classify_metrics.py
"""

import json
import math
import pathlib
import warnings

import numpy as np
from sklearn.metrics import accuracy_score, roc_auc_score

warnings.filterwarnings("ignore")


def words(number, count):
    """32-bit hashes of the positions and `number`."""
    h = (np.arange(count, dtype=np.uint64) * 2654435761 + number * 40503 + 12345) % 2**32
    h = ((h ^ (h >> np.uint64(15))) * 2246822519) % 2**32
    return h ^ (h >> np.uint64(13))


def table(number):
    """Samples, classes, scores and labels of table `number`: two or eleven classes; coarse scores (many ties) in every second
    table; one class is missing in every fifth."""
    samples, classes = 2 + words(number, 1)[0] % 80, 2 if number % 4 < 2 else 11
    samples, raw = int(samples), words(number + 5000, int(samples) * classes).reshape(-1, classes)
    scores = (raw % 7 + 1).astype(float) if number % 2 else raw.astype(float) + 1
    total = np.zeros(samples)
    for k in range(classes):  # the order in which C++ adds
        total = total + scores[:, k]
    scores = scores / total[:, None]
    labels = (words(number + 9000, samples) % classes).astype(int)
    if number % 5 == 0:
        labels[labels == classes - 1] = 0
    return scores, labels


def auc(labels, scores):
    if scores.shape[1] == 2:
        return roc_auc_score(labels, scores[:, -1])
    return sum(roc_auc_score((labels == k).astype(float), scores[:, k]) for k in range(scores.shape[1])) / scores.shape[1]


def accuracy(labels, scores):
    if scores.shape[1] == 2:
        return accuracy_score(labels, scores[:, -1] > 0.5)
    return accuracy_score(labels, np.argmax(scores, axis=-1))


def main():
    rows = []
    for number in range(1000):
        scores, labels = table(number)
        value = auc(labels, scores)
        rows.append([None if math.isnan(value) else float(value), float(accuracy(labels, scores))])
    path = pathlib.Path(__file__).with_name("classify_metrics.json")
    path.write_text("[" + ",\n".join(json.dumps(row) for row in rows) + "]\n")


if __name__ == "__main__":
    main()
