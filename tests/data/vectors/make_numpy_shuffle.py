"""Writes numpy_shuffle.json: what NumPy's legacy shuffle makes of 0 … n−1; and ssl4eo_split.json: 40 samples split as
the SSL4EO-L benchmark splits its 25,000."""
import json
import pathlib

import numpy as np

cases = []
for seed, n in [(0, 0), (0, 1), (0, 2), (0, 3), (0, 17), (1, 33), (42, 65), (4294967295, 100), (0, 1000)]:
    np.random.seed(seed)
    order = np.arange(n)
    np.random.shuffle(order)
    cases.append({"seed": seed, "n": n, "order": order.tolist()})
np.random.seed(0)
order = np.arange(25000)
np.random.shuffle(order)
cases.append({"seed": 0, "n": 25000, "first": order[:20].tolist(), "at_17500": order[17500:17520].tolist(),
              "last": order[-20:].tolist()})
path = pathlib.Path(__file__).with_name("numpy_shuffle.json")
path.write_text(json.dumps(cases) + "\n")

np.random.seed(0)
order = np.arange(40)
np.random.shuffle(order)
sizes = (np.array((0.7, 0.15, 0.15)) * 40).astype(int)
path.with_name("ssl4eo_split.json").write_text(json.dumps({"sizes": sizes.tolist(), "order": order.tolist()}) + "\n")
