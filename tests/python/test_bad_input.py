"""Bad input of the program: each a sentence with file and place, and the right exit code."""
import json
import os
import zipfile

import numpy as np
import pytest

from cli_helpers import fails, ok, small_run, train, write_csv  # noqa: F401 (small_run is a fixture)


def test_ragged_row(tmp_path):
    path = write_csv(tmp_path / "d.csv", edit=lambda lines: lines.__setitem__(100, lines[100] + ",5"))
    fails(65, "d.csv:101", arguments=train(path))
    assert not (tmp_path / "out").exists()


def test_text_in_a_number(tmp_path):
    path = write_csv(tmp_path / "d.csv", edit=lambda lines: lines.__setitem__(50, lines[50].rsplit(",", 1)[0] + ",oops"))
    fails(65, "d.csv:51", "oops", arguments=train(path))


def test_equal_dates(tmp_path):
    def edit(lines):
        lines[61] = lines[60].split(",", 1)[0] + "," + lines[61].split(",", 1)[1]
    fails(65, "d.csv:62", arguments=train(write_csv(tmp_path / "d.csv", edit=edit)))


def test_dates_that_go_back_are_sorted(tmp_path):
    def edit(lines):
        lines[60], lines[61] = lines[61], lines[60]
    assert "the rows are sorted by date; 2020-01-03 11:00:00 in line 62" in ok(*train(write_csv(tmp_path / "d.csv", edit=edit))).stderr


def test_constant_column_trains_and_says_so(tmp_path):
    def edit(lines):
        for i in range(1, len(lines)):
            lines[i] = lines[i].rsplit(",", 1)[0] + ",5"
    path = write_csv(tmp_path / "d.csv", edit=edit)
    result = ok(*train(path), "--json")
    assert "c" in result.stderr and "constant" in result.stderr
    assert np.isfinite(json.loads(result.stdout)["test"]["scaled"]["mse"])


def test_fewer_rows_than_a_window(tmp_path):
    fails(65, "rows", arguments=train(write_csv(tmp_path / "d.csv", rows=20)))


@pytest.mark.parametrize("horizon,code", [("-1", 2), ("-5", 2), ("5000", 65)])
def test_horizon_out_of_range(tmp_path, horizon, code):
    path = write_csv(tmp_path / "d.csv")
    fails(code, arguments=train(path, "--set", f"forecast.horizon={horizon}"))


def test_horizon_out_of_range_in_a_file(tmp_path):
    path = write_csv(tmp_path / "d.csv")
    config = tmp_path / "c.toml"
    config.write_text("[forecast]\nhorizon = -1\n")
    fails(78, "c.toml:2", "forecast.horizon", arguments=["train", "forecast", "--data", path, "--config", config])


def test_bytes_that_are_not_utf8(tmp_path):
    path = write_csv(tmp_path / "d.csv")
    path.write_bytes(path.read_bytes().replace(b",b,", b",\xff\xfe,", 1))
    fails(65, "d.csv", "UTF-8", arguments=train(path))


def test_empty_file(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(b"")
    fails(65, "d.csv", "empty", arguments=train(path))


def test_missing_file(tmp_path):
    fails(66, "d.csv", "No such file", arguments=train(tmp_path / "d.csv"))


def test_folder_without_csv(tmp_path):
    (tmp_path / "d").mkdir()
    fails(66, f"{tmp_path}/d", ".csv", arguments=train(tmp_path / "d"))


def test_no_permission(tmp_path):
    path = write_csv(tmp_path / "d.csv")
    path.chmod(0)
    # Root may read everything; another user may not even look into the folder.
    fails(66, "d.csv", "Permission denied", arguments=train(path), user=65534 if os.geteuid() == 0 else None)


def npy_header(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64 + 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()


def test_npy_that_declares_ten_gigabytes(tmp_path):
    path = tmp_path / "d.npy"
    path.write_bytes(npy_header("(125000000, 10)") + b"\0" * 900)
    fails(65, "d.npy", arguments=train(path))


def test_truncated_npz(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, values=np.zeros((100, 3)))
    path.write_bytes(path.read_bytes()[:-100])
    fails(65, "d.npz", arguments=train(path))


def test_zip_bomb(tmp_path):
    path = tmp_path / "d.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        with archive.open("values.npy", "w") as member:
            member.write(npy_header("(40000000, 1)"))
            for _ in range(320):
                member.write(b"\0" * 1000000)
    assert path.stat().st_size < 400000
    fails(65, "d.npz", arguments=train(path))


def test_unknown_key_gets_the_nearest_name(tmp_path):
    path = write_csv(tmp_path / "d.csv")
    fails(2, "train.epoch", "did you mean 'train.epochs'", arguments=train(path, "--set", "train.epoch=3"))
    config = tmp_path / "c.toml"
    config.write_text("[train]\n\nepoch = 3\n")
    fails(78, "c.toml:3", "did you mean 'train.epochs'",
          arguments=["train", "forecast", "--data", path, "--config", config])


def test_unknown_option_and_command(tmp_path):
    fails(2, "--dta", "did you mean '--data'", arguments=["train", "forecast", "--dta", "x.csv"])
    fails(2, "evalute", "did you mean 'evaluate'", arguments=["evalute"])


def test_other_columns_than_the_run(small_run, tmp_path):
    other = write_csv(tmp_path / "other.csv", columns=("a", "x", "c"))
    fails(65, "other.csv", "x", arguments=["predict", small_run, "--data", other])
    more = write_csv(tmp_path / "more.csv", columns=("a", "b", "c", "d"))
    assert "more.csv: columns that the run does not have are left out: d" in ok("evaluate", small_run, "--data", more).stderr


def test_other_step_than_the_run(small_run, tmp_path):
    def daily(lines):
        for i in range(1, len(lines)):
            lines[i] = str(np.datetime64("2020-01-01") + i) + "," + lines[i].split(",", 1)[1]
    fails(65, "1 h", arguments=["predict", small_run, "--data", write_csv(tmp_path / "daily.csv", edit=daily)])


def test_not_a_run(tmp_path):
    fails(66, "run folder", arguments=["evaluate", tmp_path])
    fails(66, "run folder", arguments=["predict", tmp_path / "nowhere"])
