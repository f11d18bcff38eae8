"""Writes agreement.json: GLUE metrics by scikit-learn and SciPy, on the tables of agreement_test.cpp.

    pip install scikit-learn scipy && python tests/metrics/vectors/make_agreement.py
"""

import json
import math
import pathlib
import random
import warnings

from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, matthews_corrcoef

warnings.filterwarnings("ignore")


def number(value):
    return None if math.isnan(value) else float(value)


def labels(rng, case):
    classes = rng.choice([2, 2, 2, 3, 5])
    samples = rng.choice([1, 2, 3, 7, 31, 65, 500])
    truth = [rng.randrange(classes) for _ in range(samples)]
    called = [t if rng.random() < 0.6 else rng.randrange(classes) for t in truth]
    if case % 9 == 0:
        truth = [case % classes] * samples
    if case % 7 == 0:
        called = [(case // 7) % classes] * samples
    return {"classes": classes, "confusion": confusion_matrix(truth, called, labels=list(range(classes))).ravel().tolist(),
            "accuracy": accuracy_score(truth, called), "matthews": number(matthews_corrcoef(truth, called)),
            "f1": [number(f1_score([t == k for t in truth], [c == k for c in called], zero_division=0.0))
                   for k in range(classes)]}


def values(rng, case):
    samples = rng.choice([2, 3, 5, 17, 63])
    scale = rng.choice([1, 1e-200, 1e150, 5])
    x = [rng.gauss(0, 1) for _ in range(samples)]
    y = [rng.random() * a + rng.gauss(0, 0.5) for a in x]
    if case % 3 == 0:
        x, y = [round(v * 2) / 2 for v in x], [round(v) for v in y]  # ties
    if case % 8 == 0:
        y = [y[0]] * samples
    if case % 11 == 0:
        x = [5.0] * samples
    x = [v * scale for v in x]
    return {"x": x, "y": [float(v) for v in y], "pearson": number(pearsonr(x, y).statistic),
            "spearman": number(spearmanr(x, y).statistic)}


def main():
    rng = random.Random(11)
    out = {"labels": [labels(rng, case) for case in range(120)], "values": [values(rng, case) for case in range(66)]}
    pathlib.Path(__file__).with_name("agreement.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
