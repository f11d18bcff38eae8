"""Files as people have them (MODEWISE_CASES, or ../shared/cases beside the checkout): read right, or refused with a remedy.

Each folder of cases holds a file case.txt with its source and the right result, worked out independently. The tests are skipped
where the folder is missing.
"""
import json
import os
import pathlib

import pytest

from cli_helpers import ok, modewise
from programs import ROOT

CASES = pathlib.Path(os.environ.get("MODEWISE_CASES", ROOT.parent / "shared" / "cases"))
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the folder of cases is missing (MODEWISE_CASES)")


def described(path, *settings):
    sets = [word for setting in settings for word in ("--set", setting)]
    return json.loads(ok("data", "show", CASES / path, "--json", *sets).stdout)


def refused(arguments, *words):
    result = modewise(*arguments)
    assert result.returncode in (65, 66, 78), (result.returncode, result.stdout[-500:], result.stderr[-500:])
    for word in words:
        assert word in result.stderr, (word, result.stderr)


HOURS = dict(rows=240, frequency="1 h")
TABLES = {
    # 01: forms of dates
    "01-utc-suffix-long/long.csv": dict(HOURS, labels=[["A", "B", "C"]], first="2024-01-01 00:00", last="2024-01-10 23:00"),
    "01-utc-suffix-long/wide_gap.csv": dict(HOURS, missing_rows=12),
    **{f"01-utc-suffix-long/form_{form}.csv": {"dated": True} for form in
       ("ampm_dots", "basic", "german", "hour24", "imf", "isoweek", "long_month", "m_yyyy", "mon_yy", "mtu", "rfc", "yyyy_slash")},
    # 02: date and time in two columns
    "02-date-and-time-columns/household.txt": dict(rows=960, frequency="15 min", count=2, missing_rows=3),
    "02-date-and-time-columns/household_full.txt": dict(rows=960, frequency="15 min"),
    "02-date-and-time-columns/meter.csv": dict(rows=960, frequency="15 min", count=2),
    "02-date-and-time-columns/hour_ending.csv": dict(rows=480, frequency="1 h"),
    "02-date-and-time-columns/hourly_200_days.csv": dict(rows=4800, frequency="1 h"),
    # 03: rows of delimiters, nameless columns
    "03-airquality-empty-rows/air_full.csv": dict(HOURS, labels=[["CO(GT)", "PT08.S1(CO)", "T"]]),
    "03-airquality-empty-rows/air_no_empty_rows.csv": dict(HOURS, labels=[["CO(GT)", "PT08.S1(CO)", "T"]]),
    "03-airquality-empty-rows/excel_tail.csv": dict(HOURS, count=2),
    "03-airquality-empty-rows/fred_dot.csv": dict(dated=True, missing_rows=13),
    # 05: market exports, newest first
    "05-market-export/eur_usd.csv": dict(rows=160, includes=["Price", "Open", "High", "Low"]),
    "05-market-export/btc_usd.csv": dict(rows=160, includes=["Price", "Open", "High", "Low"]),
    "05-market-export/crosses_thousand.csv": dict(rows=160),
    # 07: the repeated hour
    "07-dst-local-with-zone/load_zone.csv": dict(rows=676, frequency="15 min", count=1),
    "07-dst-local-with-zone/load_dstflag.csv": dict(rows=676, frequency="15 min", count=1),
    "07-dst-local-with-zone/load_plain.csv": dict(rows=676, frequency="15 min", count=1),
    # 09: sep= and comment lines
    "09-sep-line/three.csv": dict(rows=280, frequency="1 d", labels=[["a", "b"]]),
    "09-sep-line/two_comma.csv": dict(rows=280, frequency="1 d", labels=[["a"]]),
    "09-sep-line/two_decimal_comma.csv": dict(rows=280, frequency="1 d", labels=[["a"]]),
    "09-sep-line/comment_lines.csv": dict(rows=280, frequency="1 d"),
    # 11: ids keep their digits
    "11-leading-zero-ids/stocks.csv": dict(ids=["000001", "000002", "600000"]),
    "11-leading-zero-ids/stores_01_and_1.csv": dict(ids=["01/1", "01/2", "1/1", "1/2"]),
    # 13: order of a long table
    "13-long-sorted-by-date/by_id.csv": dict(rows=240, ids=["A", "B"], first="2004-01-01"),
    "13-long-sorted-by-date/by_date.csv": dict(rows=240, ids=["A", "B"], first="2004-01-01"),
    "13-long-sorted-by-date/one_after_the_other.csv": dict(count=2),
    # 14: numbers that are dates
    "14-dates-as-integers/dwd_hourly.txt": dict(rows=480, frequency="1 h", includes=["TT_TU", "RF_TU"]),
    "14-dates-as-integers/long_yyyymm.csv": dict(rows=120, count=3, frequency="1 month"),
    "14-dates-as-integers/filtered_index.csv": dict(labels=[["value"]]),
    **{f"14-dates-as-integers/{form}.csv": {"dated": True} for form in
       ("decimal_year", "excel_serial", "microseconds", "nanoseconds", "yyyymm", "yyyymmdd_other_name", "yyyymmddhh", "yyyymmddhhmm")},
    # 29: signs and marks of numbers
    **{f"29-unicode-minus/{name}.csv": dict(rows=280, labels=[["temp", "wind"]]) for name in ("winter", "few_negative", "mostly_negative")},
    "29-unicode-minus/nbsp_thousands.csv": dict(rows=280, count=1),
}
REFUSED_TABLES = {
    "08-three-header-rows/prices.csv": ("prices.csv:2", "data.skip_lines", "data.header_rows"),
    "08-three-header-rows/two_tickers.csv": ("Close", "data.header_rows = 3"),
    "10-units-row/buoy.csv": ("buoy.csv:2", "data.skip_lines"),
    "10-units-row/buoy_undated.csv": ("buoy_undated.csv:2", "degree_C"),
    "14-dates-as-integers/ms_half.csv": ("data.",),
    "29-unicode-minus/english_thousands_semicolon.csv": ("data.decimal", "data.thousands"),
    "29-unicode-minus/german_thousands.csv": ("data.decimal", "data.thousands"),
}


@pytest.mark.parametrize("path", TABLES)
def test_a_table_is_read_right(path):
    expected = TABLES[path]
    shown = described(path)
    labels = [mode["labels"] for mode in shown["modes"]]
    flat = [label for mode in labels for label in mode]
    for key in ("rows", "frequency", "dated"):
        if key in expected:
            assert shown[key] == expected[key]
    assert shown["dated"] or path.endswith("filtered_index.csv")
    if "first" in expected:
        assert shown["first"].startswith(expected["first"])
    if "last" in expected:
        assert shown["last"].startswith(expected["last"])
    if "labels" in expected:
        assert labels == expected["labels"]
    if "ids" in expected:
        assert labels[0] == expected["ids"]
    if "includes" in expected:
        assert set(expected["includes"]) <= set(flat)
    if "count" in expected:
        assert len(flat) == expected["count"]
    if "missing_rows" in expected:
        assert shown["missing_cells"] == expected["missing_rows"] * len(flat)


@pytest.mark.parametrize("path, words", [
    ("05-market-export/btc_usd.csv", "thousands"), ("05-market-export/btc_usd.csv", "percent"), ("29-unicode-minus/winter.csv", "minus"),
    ("09-sep-line/three.csv", "sep="), ("09-sep-line/comment_lines.csv", "comment"), ("03-airquality-empty-rows/excel_tail.csv", "rows"),
    ("02-date-and-time-columns/meter.csv", "together"), ("07-dst-local-with-zone/load_zone.csv", "daylight saving"),
    ("13-long-sorted-by-date/by_date.csv", "unique_id"), ("14-dates-as-integers/filtered_index.csv", "index"),
])
def test_a_reading_is_said(path, words):
    shown = described(path)
    assert any(words in note for note in shown["notes"]), shown["notes"]


@pytest.mark.parametrize("path", REFUSED_TABLES)
def test_a_table_is_refused_with_a_remedy(path):
    refused(["data", "show", CASES / path], *REFUSED_TABLES[path])


def test_rows_of_a_header_are_joined():
    shown = described("08-three-header-rows/two_tickers.csv", "data.header_rows=3")
    assert [one["name"] for one in shown["variables"]] == ["Close AAA", "Close BBB", "High AAA", "High BBB"]
    assert shown["variables"][0]["min"] == min(float(line.split(",")[1]) for line in (CASES / "08-three-header-rows/two_tickers.csv").read_text().splitlines()[3:])
    assert (shown["rows"], shown["missing_cells"]) == (160, 0)


def test_both_readings_of_thousands_are_settable():
    for name, decimal, thousands in (("english_thousands_semicolon", ".", ","), ("german_thousands", ",", ".")):
        path = f"29-unicode-minus/{name}.csv"
        large = described(path, f"data.decimal={decimal}", f"data.thousands={thousands}")["variables"]
        small = described(path, f"data.decimal={thousands}", "data.thousands=none")["variables"]
        assert max(one["max"] for one in large) >= 1000 > max(one["max"] for one in small) / 1000


@pytest.mark.parametrize("path, samples, classes", [
    ("17-hidden-mac-files/folders", 12, 2), ("17-hidden-mac-files/with_macosx", 12, 2), ("17-hidden-mac-files/table", 12, 2),
    ("17-hidden-mac-files/pictures", 20, 2), ("18-same-file-name-per-patient/data", 12, 2), ("18-same-file-name-per-patient/classes", 12, 2),
    *((f"20-pictures-as-they-come/{name}", 20 if name == "upper_case" else 21, 2)
      for name in ("extraneous", "png_as_jpg", "upper_case", "mpo", "fill_bytes", "png_trailing", "no_eoi", "png_iccp", "png_text_crc")),
])
def test_a_folder_is_read_right(path, samples, classes):
    shown = json.loads(ok("data", "show", CASES / path, "--json").stdout)
    assert (shown.get("volumes") or shown["pictures"]) == samples and len(shown["classes"]) == classes


def test_tiles_and_masks_of_a_folder_with_hidden_files():
    tiles = CASES / "17-hidden-mac-files/tiles"
    assert ok("data", "show", tiles / "images", "--set", f"data.masks={tiles / 'masks'}").stdout.split(": ")[1].startswith("8 images")


@pytest.mark.parametrize("path, words", [
    ("20-pictures-as-they-come/bmp_as_jpg", "a BMP image"), ("20-pictures-as-they-come/gif_as_jpg", "a GIF image"),
    ("20-pictures-as-they-come/webp_as_jpg", "a WebP image"), ("20-pictures-as-they-come/zero_bytes", "empty"),
    ("20-pictures-as-they-come/truncated", "data.skip_broken"), ("28-multi-label-npz/chestmnist.npz", "14"),
])
def test_a_folder_is_refused_with_a_reason(path, words):
    refused(["data", "show", CASES / path], words)


def segment(mask, tmp_path, *more):
    folder = CASES / "33-masks-0-and-255"
    return modewise("train", "segment", "--data", folder / "rgb.tif", "--masks", folder / mask, "--max-steps", 1, "--set", "data.window=16",
                    "--set", "output.report=false", "--out", tmp_path / "run", *more)


def test_masks_of_0_and_255_have_two_classes(tmp_path):
    for mask in ("mask_0_1.tif", "mask_0_255.tif"):
        assert segment(mask, tmp_path, "--overwrite").returncode == 0
        assert len(json.loads((tmp_path / "run" / "data.json").read_text())["classes"]["classes"]) == 2
    result = segment("mask_nodata0.tif", tmp_path, "--overwrite")
    assert result.returncode == 65 and "data." in result.stderr.splitlines()[-1]


def generated(folder, prompt):
    """The ids of 8 greedy tokens."""
    return json.loads(ok("generate", CASES / folder, "--prompt", prompt, "--tokens", 8, "--temperature", 0, "--json").stdout)["ids"]


def test_two_tokenizers_in_a_folder(tmp_path):
    folder = CASES / "22-llama-folder-two-tokenizers"
    expected = json.loads((folder / "expected_ids.json").read_text())
    ids = expected if isinstance(expected, list) else next(iter(expected.values()))
    for name in ("old_style", "new_style", "json_only"):
        out = ok("tokenize", "--tokenizer", folder / name, folder / "probe.txt").stdout.split()
        assert [int(word) for word in out] == ids
        assert len(generated(folder / name, "the cat")) == 8


def test_ids_without_a_token_do_not_end_a_text():
    out = ok("generate", CASES / "23-padded-vocabulary/model", "--prompt", "the", "--tokens", 10, "--temperature", 0).stdout
    assert out.strip() == "xxxxx"
    for seed in range(5):
        ok("generate", CASES / "23-padded-vocabulary/model", "--prompt", "the", "--tokens", 10, "--seed", seed, "--json")


def test_variants_of_config_json():
    folder = "24-config-variants"
    plain = generated(f"{folder}/plain", "the cat")
    for name in ("nulls", "newest", "pretrain_tp2", "inv_freq", "mistral_null_window", "oldest"):
        assert generated(f"{folder}/{name}", "the cat") == plain, name
    generated(f"{folder}/int_theta", "the cat")
    refused(["generate", CASES / folder / "bin_only", "--prompt", "a"], "safetensors")
    refused(["generate", CASES / folder / "empty_tensor", "--prompt", "a"], "model.extra_empty")


@pytest.mark.parametrize("folder, ids", [
    ("smol", [192, 124, 172, 274, 276, 234, 230, 172]), ("phi", [71, 115, 100, 69, 165, 130, 235, 274]),
    ("llama3", [71, 232, 285, 65, 51, 140, 226, 86]),
])
def test_the_begin_token_is_where_the_tokenizer_puts_it(folder, ids):
    assert generated(f"36-begin-token/{folder}", "the cat") == ids


@pytest.mark.parametrize("name, right", [
    ("plain.txt", True), ("utf8bom.txt", True), ("lines.jsonl", True), ("lines_bom.jsonl", True), ("crlf_marks.txt", True),
    ("utf16le.txt", None), ("train.parquet", False), ("book.docx", False), ("lines.jsonl.gz", False), ("list.json", False),
    ("folder", False), ("lines_null.jsonl", False), ("chat.jsonl", False), ("table.csv", None), ("latin1.txt", None),
])
def test_texts_as_they_are_saved(name, right, tmp_path):
    result = modewise("train", "language", "--data", CASES / "25-text-as-it-is-saved" / name, "--tokenizer", "bytes", "--set", "model.context=64",
                      "--set", "model.width=32", "--set", "model.layers=1", "--max-steps", 2, "--no-test", "--out", tmp_path / "run",
                      "--set", "output.report=false")
    if right is None:  # read with a note, or refused
        assert result.returncode == 65 or name in result.stderr
    else:
        assert result.returncode == (0 if right else 65), result.stderr[-800:]


def texts(name, *settings):
    return ["data", "show", CASES / "30-labelled-texts" / name, "--task", "text", "--json",
            *[word for setting in settings for word in ("--set", setting)]]


def test_labelled_texts():
    columns = ("data.text=review", "data.label=sentiment")
    refused(texts("imdb.csv"), "review", "sentiment")
    for name, chosen in (("imdb.csv", columns), ("imdb_bom.csv", ()), ("space_label.csv", ())):
        shown = json.loads(ok(*texts(name, *chosen)).stdout)
        assert shown["texts"] == 200 and len(shown["classes"]) == 2
    refused(texts("imdb_cp1252.csv"), "UTF-8")
    refused(texts("space_header.csv", "data.label=label"), "did you mean")
    refused(texts("nan_label.csv"), "nan_label.csv:10")


@pytest.mark.parametrize("name", ["plain", "indexed", "id"])
def test_an_index_is_not_a_value_of_a_series(name, tmp_path):
    folder = CASES / "32-cases-with-an-index-column"
    ok("train", "classify-series", "--train", folder / f"{name}_TRAIN.csv", "--test", folder / f"{name}_TEST.csv", "--model", "nearest",
       "--out", tmp_path / "run", "--set", "output.report=false")
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["test"]["accuracy"] == 1


def test_a_series_that_begins_late_is_forecast_near_its_level(tmp_path):
    ok("train", "forecast", CASES / "34-series-that-begins-late/by_id.csv", "--model", "dlinear", "--horizon", 6, "--lookback", 24, "--epochs", 20,
       "--out", tmp_path / "run", "--set", "output.report=false")
    lines = ok("predict", tmp_path / "run").stdout.splitlines()
    values = [float(line.split(",")[2]) for line in lines[1:] if line.startswith("B,") and line.split(",")[2]]
    assert all(15 < value < 35 for value in values)
