"""Writes segment_metrics.json: scikit-learn's evaluation of small label maps, and PyTorch's cross entropy."""
import json
import pathlib
import warnings

import numpy as np
import torch
from sklearn import metrics

warnings.simplefilter("ignore")
random = np.random.default_rng(1)
cases = []
for classes, n, absent in [(2, 33, None), (3, 65, None), (4, 100, 2), (13, 500, 7), (2, 17, 1), (1, 5, None)]:
    truth = random.integers(-1, classes, n)
    called = np.where(random.random(n) < 0.6, np.maximum(truth, 0), random.integers(0, classes, n))
    if absent is not None:  # neither there nor called
        truth[truth == absent] = 0
        called[called == absent] = 0
    t, p = truth[truth >= 0], called[truth >= 0]
    labels = list(range(classes))
    union = [np.sum((t == c) | (p == c)) for c in labels]
    iou = metrics.jaccard_score(t, p, labels=labels, average=None, zero_division=0)
    here = [c for c in labels if np.any(t == c)]
    cases.append({
        "classes": classes, "truth": truth.tolist(), "called": called.tolist(),
        "accuracy": metrics.accuracy_score(t, p),
        "iou": [float(iou[c]) if union[c] else None for c in labels],
        "mean_iou": float(np.mean([iou[c] for c in labels if union[c]])),
        "micro_iou": float(metrics.jaccard_score(t, p, labels=labels, average="micro")),
        "recall": metrics.recall_score(t, p, labels=labels, average=None, zero_division=np.nan).tolist(),
        "precision": metrics.precision_score(t, p, labels=labels, average=None, zero_division=np.nan).tolist(),
        "f1": [float(x) if u else None for x, u in zip(metrics.f1_score(t, p, labels=labels, average=None, zero_division=0), union)],
        "mean_recall": float(np.mean(metrics.recall_score(t, p, labels=here, average=None))),
        "kappa": metrics.cohen_kappa_score(t, p, labels=labels) if len(set(t) | set(p)) > 1 else None,
        "confusion": metrics.confusion_matrix(t, p, labels=labels).tolist()})
    for key in ("recall", "precision"):
        cases[-1][key] = [None if np.isnan(x) else x for x in cases[-1][key]]

torch.manual_seed(3)
logits = (torch.randn(3, 5, 7, 4, dtype=torch.float64) * 3).round(decimals=3)
labels = torch.randint(-1, 4, (3, 5, 7))
weights = torch.tensor([0.5, 2.0, 0.25, 1.5], dtype=torch.float64)
losses = {}
for name, weight in (("plain", None), ("weighted", weights)):
    x = logits.clone().requires_grad_()
    loss = torch.nn.functional.cross_entropy(x.permute(0, 3, 1, 2), labels, weight=weight, ignore_index=-1)
    loss.backward()
    losses[name] = {"loss": loss.item(), "gradient": x.grad.flatten()[:40].tolist()}
record = {"cases": cases, "loss": {"logits": logits.flatten().tolist(), "labels": labels.flatten().tolist(),
                                   "sizes": list(logits.shape), "weights": weights.tolist(), **losses}}
pathlib.Path(__file__).with_name("segment_metrics.json").write_text(json.dumps(record) + "\n")
