"""`modewise train TASK --model auto` on labelled data sets with several seeds: the chosen model, evaluated once on the test split.

    python experiments/auto_classifiers.py classify-series DATA/uea/BasicMotions DATA/uea/JapaneseVowels DATA/uea/SelfRegulationSCP1 --out runs/auto
    python experiments/auto_classifiers.py classify-volumes DATA/medmnist/adrenalmnist3d.npz --budget 30m --out runs/auto

Prints a Markdown table with a row per data set: AUC / accuracy of each seed in percent, then their mean and standard deviation. Existing
results are not computed again.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "bin" / "modewise"


def search(options, data, seed, run):
    """The JSON result of the search with `train --json`, and its seconds."""
    file = run / "result.json"
    if not file.exists():
        begin = time.monotonic()
        command = [PROGRAM, "train", options.task, "--data", data, "--model", "auto", "--seed", str(seed), "--out", run, "--overwrite", "--json"]
        for option in ("budget", "jobs", "threads"):
            if getattr(options, option):
                command += [f"--{option}", str(getattr(options, option))]
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        file.write_text(json.dumps({**result, "seconds": time.monotonic() - begin}))
    return json.loads(file.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["classify-series", "classify-volumes", "classify-images"])
    parser.add_argument("data", nargs="+", type=pathlib.Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs")
    parser.add_argument("--budget")
    parser.add_argument("--jobs", type=int, help="concurrent trainings")
    parser.add_argument("--threads", type=int, help="of each training")
    options = parser.parse_args()
    print("| set | AUC / accuracy of each seed | mean | std | chosen | s |\n|---|---|---|---|---|---|", flush=True)
    for data in options.data:
        results = [search(options, data, seed, options.out / f"{data.stem}-{seed}") for seed in options.seeds]
        figures = [[100 * (one["test"][figure] or 0) for one in results] for figure in ("auc", "accuracy")]
        each = ", ".join(f"{auc:.1f}/{accuracy:.1f}" for auc, accuracy in zip(*figures))
        mean, std = (" / ".join(f"{of(values):.1f}" for values in figures) for of in (statistics.mean, lambda v: statistics.stdev(v) if len(v) > 1 else 0))
        seconds = statistics.mean(one["seconds"] for one in results)
        print(f"| {data.stem} | {each} | {mean} | {std} | {', '.join(sorted({one['chosen'] for one in results}))} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
