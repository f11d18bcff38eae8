"""The table of `./dev coverage`."""

import coverage_by_layer


def entry(name, *counts):
    return dict(zip(("filename", "line_total", "line_covered", "branch_total", "branch_covered"), (name, *counts), strict=True))


def test_counts_are_added_up_by_layer():
    files = [entry("modewise/io/a.cpp", 10, 5, 4, 1), entry("modewise/core/b.h", 1000, 999, 0, 0), entry("modewise/io/tables/c.cpp", 30, 25, 4, 4)]
    layers = coverage_by_layer.by_layer(files)
    assert layers == {"core": [1000, 999, 0, 0], "io": [40, 30, 8, 5], "all": [1040, 1029, 8, 5]}
    assert list(layers) == ["core", "io", "all"]
    assert list(coverage_by_layer.table(layers))[2:] == [
        "| core | 1,000 | 99.9 % | 0 |  |", "| io | 40 | 75.0 % | 8 | 62.5 % |", "| all | 1,040 | 98.9 % | 8 | 62.5 % |"]  # fmt: skip


def test_subfolders_and_python_files():
    files = [entry("modewise/core/claims.cpp", 10, 5, 0, 0), entry("modewise/core/log.cpp", 10, 10, 0, 0), entry("python/modewise/frames.py", 4, 3, 2, 1),
             entry("python/modewise/ops/dense.py", 8, 8, 0, 0)]  # fmt: skip
    assert coverage_by_layer.by_layer(files) == {"core": [20, 15, 0, 0], "core: claims": [10, 5, 0, 0], "modewise": [4, 3, 2, 1],
                                                 "ops": [8, 8, 0, 0], "all": [32, 26, 2, 1]}  # fmt: skip
