"""Writes shapelet_forest.json: the generalized random shapelet forest in plain Python and NumPy, with the classes that
each of its trees predicts for new samples, and some shapelet distances.

Run in this folder: python make_forest_vectors.py
"""

import json
import math
import pathlib

import numpy as np


def philox(counter, key):
    """Philox 4x32-10."""
    counter, key = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [second >> 32 ^ counter[1] ^ key[0], second & 0xFFFFFFFF, first >> 32 ^ counter[3] ^ key[1], first & 0xFFFFFFFF]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return counter


class Stream:
    def __init__(self, seed, site, step):
        self.key, self.tail = (seed & 0xFFFFFFFF, seed >> 32), (step, site)

    def bits(self, index):
        """24 random bits."""
        block = index // 4
        return philox((block & 0xFFFFFFFF, block >> 32, *self.tail), self.key)[index % 4] >> 8

    def pick(self, index, count):
        return self.bits(index) * count >> 24


def standardised(x):
    std = x.std()
    return (x - x.mean()) / std if std > 1e-6 * math.sqrt((x**2).mean()) else np.zeros_like(x)


def distance(shapelet, series):
    if len(series) < len(shapelet):
        series, shapelet = shapelet, series
    wanted, length = standardised(shapelet), len(shapelet)
    return min(math.sqrt(((wanted - standardised(series[i : i + length])) ** 2).mean()) for i in range(len(series) - length + 1))


def entropy(labels):
    shares = np.bincount(labels) / len(labels)
    return -sum(p * math.log(p) for p in shares if p > 0)


def majority(labels):
    return int(np.bincount(labels).argmax())


def grow(cases, labels, stream, settings):
    """The tree as a function from a sample to a class. Nodes are numbered breadth first, children at creation."""
    count = len(cases)
    nodes = [[stream.pick(i, count) for i in range(count)]]
    splits = {}
    at = 0
    while at < len(nodes):
        members = nodes[at]
        own = np.array([labels[i] for i in members])
        best = None
        if len(set(own)) > 1:
            for draw in range(settings["shapelets"]):
                word = count + (at * settings["shapelets"] + draw) * 4
                case = members[stream.pick(word, len(members))]
                variable = stream.pick(word + 1, cases[case].shape[0])
                steps = cases[case].shape[1]
                minimum, maximum = (min(max(math.ceil(settings[name] * steps), 1), steps) for name in ("shortest", "longest"))
                length = minimum + stream.pick(word + 2, maximum - minimum + 1)
                start = stream.pick(word + 3, steps - length + 1)
                shapelet = cases[case][variable, start : start + length]
                distances = np.array([distance(shapelet, cases[i][variable]) for i in members])
                levels = sorted(set(distances))
                for low, high in zip(levels, levels[1:]):
                    if high - low <= 1e-12:
                        continue
                    near = distances <= low
                    gain = entropy(own) - near.mean() * entropy(own[near]) - (~near).mean() * entropy(own[~near])
                    if best is None or gain > best[0] + 1e-12 or (gain > best[0] - 1e-12 and high - low > best[1] + 1e-12):
                        best = (gain, high - low, variable, shapelet, (low + high) / 2, near)
        if best is not None:
            splits[at] = (*best[2:5], len(nodes))
            nodes += [[i for i, near in zip(members, best[5]) if near], [i for i, near in zip(members, best[5]) if not near]]
        at += 1

    def vote(case):
        node = 0
        while node in splits:
            variable, shapelet, threshold, child = splits[node]
            node = child + (distance(shapelet, case[variable]) > threshold)
        return majority([labels[i] for i in nodes[node]])

    return vote, len(nodes)


def made_case(rng, label, steps):
    """Two variables of noise; the class is the shape of a bump at a random position in the second."""
    case = rng.normal(size=(2, steps)) * 0.5
    at = rng.integers(0, steps - 6)
    case[1, at : at + 6] += [[0, 2, 3, 2, 0, -1], [3, 2, 0, -2, -3, 0], [1, -2, 3, -2, 1, 0]][label]
    return np.round(case * 64) / 64


def main():
    rng = np.random.default_rng(3)
    settings = {"trees": 7, "shapelets": 4, "shortest": 0.1, "longest": 0.6}
    labels = [i % 3 for i in range(21)]
    steps = [17 if i % 4 else 11 for i in range(21)]
    cases = [made_case(rng, label, n) for label, n in zip(labels, steps)]
    new_steps = [17, 9, 17, 13, 17, 17, 8, 17, 17]
    new = [made_case(rng, i % 3, n) for i, n in enumerate(new_steps)]
    # The seed that a model of seed 5 draws from its initial-weight stream.
    weights = Stream(5, 2, 0)
    seed = weights.bits(0) | weights.bits(1) << 24
    trees = [grow(cases, labels, Stream(seed, 5, tree), settings) for tree in range(settings["trees"])]
    pairs = [(rng.normal(size=5), rng.normal(size=31)), (rng.normal(size=31) + 100, rng.normal(size=7)), (np.ones(4), rng.normal(size=9)),
             (rng.normal(size=3), np.full(8, 2.5)), (np.ones(3), np.zeros(5)), (rng.normal(size=1), rng.normal(size=4)),
             (rng.normal(size=300), rng.normal(size=900))]
    pairs = [(np.float32(a).astype(float), np.float32(b).astype(float)) for a, b in pairs]
    record = {
        "settings": settings, "labels": labels, "steps": steps, "new_steps": new_steps,
        "cases": [case.flatten().tolist() for case in cases], "new": [case.flatten().tolist() for case in new],
        "nodes": [count for _, count in trees],
        "votes": [[vote(case) for vote, _ in trees] for case in new],
        "distances": [{"shapelet": a.tolist(), "series": b.tolist(), "distance": distance(a, b)} for a, b in pairs],
    }
    path = pathlib.Path(__file__).with_name("shapelet_forest.json")
    path.write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
