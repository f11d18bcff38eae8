"""Writes stories260K.json: ids and text of 200 greedy tokens of stories260K.bin by llama2.c's own run.c (built with
`gcc -O3`, changed only to print each id to stderr), and logits by its formula in float64 NumPy.

    python make_stories.py DATA/language IDS_FILE TEXT_FILE
"""
import json
import pathlib
import struct
import sys

import numpy as np

data, ids_file, text_file = map(pathlib.Path, sys.argv[1:])
raw = (data / "stories260K.bin").read_bytes()
dim, hidden, layers, heads, kv_heads, vocabulary, context = struct.unpack("7i", raw[:28])
d = dim // heads
floats = np.frombuffer(raw, "<f4", offset=28).astype(np.float64)
at = 0


def take(*shape):
    global at
    count = int(np.prod(shape))
    at += count
    return floats[at - count : at].reshape(shape)


embedding, norm1 = take(vocabulary, dim), take(layers, dim)
wq, wk, wv, wo = take(layers, dim, dim), take(layers, kv_heads * d, dim), take(layers, kv_heads * d, dim), take(layers, dim, dim)
norm2, w1, w2, w3 = take(layers, dim), take(layers, hidden, dim), take(layers, dim, hidden), take(layers, hidden, dim)
final = take(dim)


def rms(x, w):
    return w * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def turn(x):
    """Neighbouring pairs of each head by position / 10000^(2i/d)."""
    n = x.shape[0]
    pairs = x.reshape(n, -1, d // 2, 2)
    angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.stack([pairs[..., 0] * c - pairs[..., 1] * s, pairs[..., 0] * s + pairs[..., 1] * c], -1).reshape(n, -1, d)


def logits_of(tokens):
    x = embedding[tokens]
    n = len(tokens)
    mask = np.triu(np.full((n, n), -np.inf), 1)
    for layer in range(layers):
        h = rms(x, norm1[layer])
        q, k = turn(h @ wq[layer].T), turn(h @ wk[layer].T)
        v = (h @ wv[layer].T).reshape(n, kv_heads, d)
        k, v = np.repeat(k, heads // kv_heads, 1), np.repeat(v, heads // kv_heads, 1)
        score = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(d) + mask
        p = np.exp(score - score.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        x = x + np.einsum("hij,jhd->ihd", p, v).reshape(n, dim) @ wo[layer].T
        h = rms(x, norm2[layer])
        gate = h @ w1[layer].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w3[layer].T)) @ w2[layer].T
    return rms(x, final) @ embedding.T


ids = [int(i) for i in ids_file.read_text().split()[:200]]
assert len(ids) == 200
logits = logits_of(np.array([1, *ids]))
assert (logits[:-1].argmax(-1) == ids).all()
pathlib.Path(__file__).with_name("stories260K.json").write_text(json.dumps(
    {"ids": ids, "text": text_file.read_text().removesuffix("\n"),
     "logits": {str(i): [round(v, 6) for v in logits[i].tolist()] for i in (0, 7, 200)}}) + "\n")
