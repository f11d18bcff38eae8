"""Failure rates of Lemma B.1 of "Tensorized Attention" with the printed number of rows: the figures of docs/results-tensorized-attention.md.

    python tests/analysis/lemma_failures.py          # about a minute, one thread; numpy's generator, seed 0

A unit vector that is a Kronecker product of m vectors, rows of T of rank 1: <t, y> is a product of m standard normal numbers, and a draw
fails if the norm of T y is off by more than epsilon.
"""

import math

import numpy as np

EPSILON = 0.5
CASES = [(2, 8), (3, 4), (3, 8), (4, 4), (5, 3), (6, 3)]  # modes, their size


def failures(rng, modes, rows, draws):
    failed = done = 0
    while done < draws:
        block = max(1, min(draws - done, int(4e6 / rows)))
        product = np.ones((block, rows))
        for _ in range(modes):
            product *= rng.standard_normal((block, rows))
        failed += (abs(np.sqrt((product**2).mean(1)) - 1) > EPSILON).sum()
        done += block
    return failed / draws


def main():
    rng = np.random.default_rng(0)
    print("| m | n | rows asked for | draws | failed | promised, .05/n |\n|---|---|---|---|---|---|")
    for modes, size in CASES:
        n = size**modes
        delta = 0.05 / n
        rows = math.ceil(EPSILON**-2 * 3**(modes - 1) * 3 * math.log(n / delta) / math.log(2 * modes))
        draws = min(40000, int(3e8 / (rows * modes)))
        print(f"| {modes} | {n} | {rows:,} | {draws:,} | {failures(rng, modes, rows, draws):.2g} | {delta:.2g} |", flush=True)


if __name__ == "__main__":
    main()
