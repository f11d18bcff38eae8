#!/usr/bin/env python3
"""Lines and branches of modewise/ that tests reached, by layer, from the counters in a build folder (`./dev coverage`).

    tests/coverage_by_layer.py build-coverage

Prints a table in Markdown, and writes FOLDER/coverage.txt: the lines that no test reached, by file. Branches of exceptions, which GCC adds
to every call, are not counted. Needs gcovr.
"""

import argparse
import collections
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def by_layer(files):
    """{layer: [lines, lines reached, branches, branches reached]} of gcovr's summary of files, the layer "all" last."""
    layers = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        counts = [file[name] for name in ("line_total", "line_covered", "branch_total", "branch_covered")]
        for layer in (pathlib.PurePath(file["filename"]).parts[1], "all"):
            layers[layer] = [a + b for a, b in zip(layers[layer], counts, strict=True)]
    return dict(sorted(layers.items(), key=lambda item: (item[0] == "all", item[0])))


def table(layers):
    """The layers as lines of Markdown."""
    yield "| layer | lines | reached | branches | reached |"
    yield "|---|---|---|---|---|"
    for layer, (lines, lines_reached, branches, branches_reached) in layers.items():
        shares = [f"{100 * reached / total:.1f} %" if total else "" for total, reached in ((lines, lines_reached), (branches, branches_reached))]
        yield f"| {layer} | {lines:,} | {shares[0]} | {branches:,} | {shares[1]} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder.resolve()
    summary = folder / "coverage.json"
    subprocess.run(["gcovr", "--root", ROOT, "--object-directory", folder, "--filter", f"{ROOT}/modewise/", "--exclude-throw-branches",
                    "--exclude-unreachable-branches", "--json-summary", summary, "--txt", folder / "coverage.txt", folder], check=True)  # fmt: skip
    print("\n".join(table(by_layer(json.loads(summary.read_text())["files"]))))


if __name__ == "__main__":
    main()
