"""Peak memory of reading tables: at most twice the file plus 64 MiB, above that of a tiny table."""

import os
import subprocess

import numpy as np
import pytest
from allowed_skips import sanitized
from cli_helpers import PROGRAM

pytestmark = pytest.mark.skipif(
    sanitized(), reason="sanitizers, coverage or no optimisation"
)

MIB = 2**20


def digits(rows):
    """Lines `1,2,3`."""
    return "1,2,3\n" * rows


def mixed(rows):
    """Dates, 6 numbers of 3 decimals, an id, a word and an integer."""
    random = np.random.default_rng(rows)
    dates = np.datetime_as_string(np.datetime64("2000-01-01T00:00") + np.arange(rows))
    lines = [
        f"{date.replace('T', ' ')},{','.join(f'{x:.3f}' for x in numbers)},row-{i % 977:04d},{'north' if i % 3 else 'south'},{i * 31 % 1000}"
        for i, (date, numbers) in enumerate(
            zip(dates, random.normal(size=(rows, 6)) * 100, strict=True)
        )
    ]
    return "date,a,b,c,d,e,f,tag,region,count\n" + "\n".join(lines) + "\n"


def long(rows):
    """unique_id, ds, y; 1000 days of each series."""
    days = np.datetime_as_string(np.datetime64("2010-01-01") + np.arange(1000))
    values = np.random.default_rng(rows).normal(size=rows).round(3)
    return "unique_id,ds,y\n" + "".join(
        f"S{i // 1000},{days[i % 1000]},{values[i]}\n" for i in range(rows)
    )


def peak(path, *arguments):
    """Peak resident memory of `data show`, in bytes."""
    # glibc's MALLOC_PERTURB_ would touch memory that is only reserved.
    environment = {
        name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"
    }
    child = subprocess.Popen(
        [PROGRAM, "data", "show", path, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss * 1024


@pytest.mark.parametrize(
    ("name", "text", "rows", "arguments"),
    [
        ("digits.csv", digits, 5_000_000, ()),
        ("digits.txt", lambda rows: digits(rows).replace(",", " "), 5_000_000, ()),
        ("mixed.csv", mixed, 150_000, ()),
        ("long.csv", long, 1_200_000, ("--set", "data.panel=no")),
        ("long.csv", long, 1_200_000, ("--set", "data.panel=yes")),
    ],
)
def test_tables_take_at_most_twice_their_size_and_64_mib(
    tmp_path, name, text, rows, arguments
):
    base = tmp_path / f"tiny-{name}"
    base.write_text(text(3000))
    path = tmp_path / name
    path.write_text(text(rows))
    used = peak(path, *arguments) - peak(base, *arguments)
    assert used <= 2 * path.stat().st_size + 64 * MIB, (
        f"{used / MIB:.0f} MiB for a file of {path.stat().st_size / MIB:.0f} MiB"
    )
