#!/usr/bin/env python3
"""Lines and branches that tests reached, by layer (`./dev coverage`).

    tests/coverage_by_layer.py [--with-cli] build-coverage   of modewise/ (and cli/), from the counters in the folder; needs gcovr
    tests/coverage_by_layer.py --python FOLDER               of python/modewise by the Python tests, from the data of coverage.py in the folder

Prints a table in Markdown, and writes FOLDER/coverage.txt: the lines that no test reached, by file. Branches of exceptions, which GCC adds
to every call, are not counted.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Parts of layers with a row of their own: what a data file or a kill can reach.
PARTS = {"core: claims": ("modewise/core/claim", "modewise/core/file_lock"), "train: checkpoint": ("modewise/train/checkpoint/",)}


def layer_of(name):
    """modewise/io/gzip.cpp: io; python/modewise/ops/dense.py: ops; python/modewise/frames.py: modewise; cli/main.cpp: cli."""
    folders = pathlib.PurePath(name).parts[:-1]
    if folders[0] == "cli":
        return "cli"
    return folders[2 if folders[0] == "python" and len(folders) > 2 else 1]


def by_layer(files):
    """{layer: [lines, lines reached, branches, branches reached]} of gcovr's summary of files, the layer "all" last."""
    layers = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        counts = [file[name] for name in ("line_total", "line_covered", "branch_total", "branch_covered")]
        parts = [part for part, names in PARTS.items() if file["filename"].startswith(names)]
        for layer in (layer_of(file["filename"]), *parts, "all"):
            layers[layer] = [a + b for a, b in zip(layers[layer], counts, strict=True)]
    return dict(sorted(layers.items(), key=lambda item: (item[0] == "all", item[0])))


def table(layers):
    """The layers as lines of Markdown."""
    yield "| layer | lines | reached | branches | reached |"
    yield "|---|---|---|---|---|"
    for layer, (lines, lines_reached, branches, branches_reached) in layers.items():
        shares = [f"{100 * reached / total:.1f} %" if total else "" for total, reached in ((lines, lines_reached), (branches, branches_reached))]
        yield f"| {layer} | {lines:,} | {shares[0]} | {branches:,} | {shares[1]} |"


def cpp_files(folder, with_cli):
    filters = [f"--filter={ROOT}/{name}/" for name in ("modewise", "cli")[:1 + with_cli]]
    summary = folder / "coverage.json"
    subprocess.run(["gcovr", "--root", ROOT, "--object-directory", folder, *filters, "--exclude-throw-branches",
                    "--exclude-unreachable-branches", "--json-summary", summary, "--txt", folder / "coverage.txt", folder], check=True)  # fmt: skip
    return json.loads(summary.read_text())["files"]


def python_files(folder):
    coverage = [sys.executable, "-m", "coverage"]
    subprocess.run([*coverage, "combine", "-q"], cwd=ROOT, check=True)
    subprocess.run([*coverage, "json", "-q", "-o", folder / "coverage.json"], cwd=ROOT, check=True)
    with open(folder / "coverage.txt", "w") as text:
        subprocess.run([*coverage, "report", "--show-missing", "--skip-covered"], cwd=ROOT, stdout=text, check=True)
    names = {"line_total": "num_statements", "line_covered": "covered_lines", "branch_total": "num_branches", "branch_covered": "covered_branches"}
    files = json.loads((folder / "coverage.json").read_text())["files"]
    return [{"filename": path} | {name: file["summary"][theirs] for name, theirs in names.items()} for path, file in files.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--with-cli", action="store_true", help="the program, too")
    parser.add_argument("--python", action="store_true", help="the Python package")
    options = parser.parse_args()
    folder = options.folder.resolve()
    files = python_files(folder) if options.python else cpp_files(folder, options.with_cli)
    print("\n".join(table(by_layer(files))))


if __name__ == "__main__":
    main()
