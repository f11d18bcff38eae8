"""Writes llama2c.json: small llama2.c checkpoints in both versions, written here in the layout of its exporter, and
their weights by name."""
import json
import pathlib
import struct

import numpy as np

DIM, HIDDEN, LAYERS, HEADS, KV, VOCABULARY, CONTEXT = 4, 3, 2, 2, 1, 5, 3


def weights(tied):
    kv = DIM // HEADS * KV
    shapes = {"embedding": (VOCABULARY, DIM), "attention_norm": (LAYERS, DIM), "query": (LAYERS, DIM, DIM),
              "key": (LAYERS, kv, DIM), "value": (LAYERS, kv, DIM), "out": (LAYERS, DIM, DIM),
              "feed_norm": (LAYERS, DIM), "gate": (LAYERS, HIDDEN, DIM), "down": (LAYERS, DIM, HIDDEN),
              "up": (LAYERS, HIDDEN, DIM), "final_norm": (DIM,)}
    if not tied:
        shapes["classifier"] = (VOCABULARY, DIM)
    at, out = 0, {}
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        out[name] = (np.arange(at, at + count, dtype=np.float32) / 8).reshape(shape)
        at += count
    return out


def write(version, tied):
    w = weights(tied)
    sizes = (DIM, HIDDEN, LAYERS, HEADS, KV, VOCABULARY if tied or version == 1 else -VOCABULARY, CONTEXT)
    if version == 0:
        header = struct.pack("7i", *sizes)
        d = DIM // HEADS
        angles = np.outer(np.arange(CONTEXT), 1.0 / 10000.0 ** (np.arange(0, d, 2) / d))
        order = ["embedding", "attention_norm", "query", "key", "value", "out", "feed_norm", "gate", "down", "up",
                 "final_norm"]
        body = b"".join(w[n].tobytes() for n in order)
        body += np.cos(angles).astype("<f4").tobytes() + np.sin(angles).astype("<f4").tobytes()
    else:
        header = struct.pack("Ii7iB", 0x616B3432, 1, *sizes, int(tied)).ljust(256, b"\0")
        order = ["attention_norm", "feed_norm", "final_norm", "embedding", "query", "key", "value", "out", "gate", "down", "up"]
        body = b"".join(w[n].tobytes() for n in order)
    body += b"" if tied else w["classifier"].tobytes()
    return {"version": version, "tied": tied, "file": (header + body).hex(),
            "weights": {n: a.ravel().tolist() for n, a in w.items()}}


cases = [write(version, tied) for version in (0, 1) for tied in (True, False)]
pathlib.Path(__file__).with_name("llama2c.json").write_text(json.dumps(cases) + "\n")
