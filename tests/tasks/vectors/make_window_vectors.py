"""Writes windows.json: which tokens three evaluations of perplexity predict from which, for small sizes.

The loops follow YaRN's eval/perplexity.py, lm-eval's get_rolling_token_windows with make_disjoint_window, and llama.cpp's
perplexity tool. A window is (document, inputs, targets): token numbers within the document, -1 for the token before it;
what is predicted are the last targets.

    python tests/tasks/vectors/make_window_vectors.py
"""

import json
import pathlib


def yarn(n, length, stride, prefix):
    out, previous, own = [], 0, length - prefix
    for begin in range(0, n, stride):
        end = min(begin + own, n)
        count = end - previous
        sequence = ([-1] if prefix else []) + list(range(begin, end))
        labels = [None] * (len(sequence) - count) + sequence[len(sequence) - count:]
        pairs = [(sequence[:i], labels[i]) for i in range(1, len(sequence)) if labels[i] is not None]
        if pairs:
            out.append((sequence[:-1], [p[1] for p in pairs]))
        previous = end
        if end == n:
            break
    return out


def lm_eval(n, length, prefix):
    tokens, out = list(range(n)), []
    first = min(length, n)
    if prefix:
        out.append(([-1] + tokens[:first - 1], tokens[:first]))
    elif first > 1:
        out.append((tokens[:first - 1], tokens[1:first]))  # without a prefix the first token is not predicted
    predicted = first
    while predicted < n:
        count = min(n - predicted, length)
        end = predicted + count
        out.append((tokens[end - length - 1:end - 1], tokens[end - count:end]))
        predicted += count
    return out


def llama_cpp(n, length, prefix):
    out = []
    for chunk in range(n // length):
        tokens = list(range(chunk * length, (chunk + 1) * length))
        if prefix:
            tokens[0] = -1
        first = length // 2
        out.append((tokens[:-1], tokens[first + 1:length]))
    return [o for o in out if o[1]]


cases = []
for prefix in (0, 1):
    for n in (1, 7, 8, 33):
        for length in (2, 3, 8, 17):
            for stride in (1, 3, 5):
                if stride < length:
                    cases.append(("sliding", n, length, stride, prefix, yarn(n, length, stride, prefix)))
            cases.append(("rolling", n, length, 1, prefix, lm_eval(n, length, prefix)))
            cases.append(("halves", n, length, 1, prefix, llama_cpp(n, length, prefix)))
path = pathlib.Path(__file__).with_name("windows.json")
path.write_text(json.dumps([{"convention": c, "tokens": n, "length": length, "stride": s, "prefix": bool(p),
                             "windows": [{"inputs": [i[0], len(i)],
                                          "targets": [t[0], len(t)]} for i, t in w]}
                            for c, n, length, s, p, w in cases], separators=(",", ":")).replace("},{\"c", "},\n{\"c") + "\n")
