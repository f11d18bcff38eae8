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
