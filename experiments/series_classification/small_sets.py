"""Ensembles of the trainings of five splits on small data sets: `--model auto` on simulated sets of 60 training samples,
evaluated on 600 new samples each. Compares the run that it chooses with one training of the candidate that is best by the mean over
the splits.

    python experiments/series_classification/small_sets.py --program build/bin/modewise --sets 6 --budget 40s --work /tmp/small-sets
"""

import argparse
import json
import pathlib
import subprocess

import numpy as np

CLASSES = ("one", "two", "three")


def write_set(folder: pathlib.Path, seed: int) -> None:
    """Noise of 3 variables and 60 steps; one variable of a sample contains its class's wave of 20 steps at a random position."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    waves = rng.normal(size=(len(CLASSES), 20)).cumsum(1)
    waves = (waves - waves.mean(1, keepdims=True)) / waves.std(1, keepdims=True)
    for part, count in (("TRAIN", 60), ("TEST", 600)):
        lines = ["@problemName Waves", "@dimensions 3", f"@classLabel true {' '.join(CLASSES)}", "@data"]
        for i in range(count):
            sample = rng.normal(size=(3, 60))
            at = rng.integers(0, 41)
            sample[rng.integers(0, 3), at : at + 20] += 1.2 * waves[i % 3]
            lines.append(":".join(",".join(f"{x:.4f}" for x in one) for one in sample) + f":{CLASSES[i % 3]}")
        (folder / f"Waves_{part}.ts").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/modewise")
    parser.add_argument("--sets", type=int, default=6)
    parser.add_argument("--budget", default="40s")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()

    def said(*arguments: object) -> dict:
        return json.loads(subprocess.run([options.program, *map(str, arguments), "--json"], check=True, capture_output=True).stdout)

    figures = []
    print("set  single               accuracy  log loss   chosen     members  accuracy  log loss")
    for seed in range(1, options.sets + 1):
        data, run = options.work / f"set{seed}", options.work / f"run{seed}"
        write_set(data, seed)
        said("train", "classify-series", "--data", data, "--model", "auto", "--budget", options.budget, "--no-test", "--out", run)
        board = json.loads((run / "auto" / "leaderboard.json").read_text())
        name = next(row["name"] for row in board if row["stage"] == "splits")
        stage = next(row["stage"] for row in board if row["name"] == name and row["stage"] != "splits")
        evaluated = [said("evaluate", of) for of in (run / "auto" / stage / "runs" / name, run)]
        figures.append([one[figure] for one in evaluated for figure in ("accuracy", "loss")])
        metrics = json.loads((run / "metrics.json").read_text())
        chosen = next(row["name"] for row in board)
        one = figures[-1]
        print(f"{seed:3}  {name:20} {one[0]:8.3f}  {one[1]:8.3f}   {chosen:9} {len(metrics.get('members', [0])):8} {one[2]:9.3f}  {one[3]:8.3f}", flush=True)
    mean = np.mean(figures, 0)
    print(f"mean {'':20} {mean[0]:8.3f}  {mean[1]:8.3f}   {'':9} {'':8} {mean[2]:9.3f}  {mean[3]:8.3f}")


if __name__ == "__main__":
    main()
