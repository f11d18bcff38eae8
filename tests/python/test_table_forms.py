"""Forms of tables as people export them: what is read, by values computed here, or the remedy that is named."""

import csv
import datetime
import json
import math

import pandas
import pytest

from cli_helpers import modewise, ok

DAYS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(i) for i in range(60)]
HOURS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=i) for i in range(240)]
MONTHS = [datetime.datetime(2010 + i // 12, i % 12 + 1, 1) for i in range(60)]
QUARTERS = MONTHS[::3]
HALVES = [datetime.datetime(1980 + i // 2, i % 2 * 6 + 1, 1) for i in range(40)]
WEEKS = [datetime.datetime(2019, 12, 30) + datetime.timedelta(7 * i) for i in range(120)]  # two of 53 weeks


SEASONS = [datetime.datetime(y, 1, 1) for y in range(2000, 2024)]


def season(mark, digits):
    return lambda d: f"{d.year}{mark}{str(d.year + 1)[-digits:]}"


def value(i):
    return round(20 + 5 * math.sin(i) + i / 8, 2)


def table(dates, form, header="date,value", write=str, mark=",", values=None):
    values = values or [value(i) for i in range(len(dates))]
    lines = [f"{form(date)}{mark}{write(v)}" for date, v in zip(dates, values, strict=True)]
    return "\n".join([header.replace(",", mark), *lines, ""])


def iso_week(date):
    return date.isocalendar()[:2]


def show(tmp_path, text, *settings, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    sets = [word for setting in settings for word in ("--set", setting)]
    return modewise("data", "show", path, "--json", *sets)


def described(tmp_path, text, *settings, name="table.csv"):
    result = show(tmp_path, text, *settings, name=name)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


DATES = {
    "Chinese": (DAYS, lambda d: f"{d.year}年{d.month}月{d.day}日", "日期,value", "1 d"),
    "Chinese hours": (HOURS, lambda d: f"{d.year}年{d.month}月{d.day}日 {d:%H:%M}", "date,value", "1 h"),
    "Chinese months": (MONTHS, lambda d: f"{d.year}年{d.month}月", "date,value", "1 month"),
    "Korean": (DAYS, lambda d: f"{d.year}. {d.month}. {d.day}.", "date,value", "1 d"),
    "Uhr": (HOURS, lambda d: f"{d:%d.%m.%Y %H:%M} Uhr", "date,value", "1 h"),
    "13h30": (HOURS, lambda d: f"{d:%d/%m/%Y %Hh%M}", "date,value", "1 h"),
    "Stata months": (MONTHS, lambda d: f"{d.year}m{d.month}", "date,value", "1 month"),
    "1Q10": (QUARTERS, lambda d: f"{d.month // 3 + 1}Q{d:%y}", "date,value", "3 months"),
    "2010-T1": (QUARTERS, lambda d: f"{d.year}-T{d.month // 3 + 1}", "date,value", "3 months"),
    "2024001": (DAYS, lambda d: f"{d:%Y%j}", "date,value", "1 d"),
    "202001 weeks": (WEEKS, lambda d: "{}{:02}".format(*iso_week(d)), "week,value", "7 d"),
    "2020-01 weeks": (WEEKS, lambda d: "{}-{:02}".format(*iso_week(d)), "week,value", "7 d"),
    "few weeks": (WEEKS[:9], lambda d: "{}-{:02}".format(*iso_week(d)), "week,value", "7 d"),
    "KW 01/2020": (WEEKS, lambda d: "KW {1:02}/{0}".format(*iso_week(d)), "Woche,value", "7 d"),
    "KW 1/2020": (WEEKS, lambda d: "KW {1}/{0}".format(*iso_week(d)), "Datum,value", "7 d"),
    "Week 1 2020": (WEEKS, lambda d: "Week {1} {0}".format(*iso_week(d)), "date,value", "7 d"),
    "2020-W1": (WEEKS, lambda d: "{}-W{}".format(*iso_week(d)), "date,value", "7 d"),
    "202001": (WEEKS, lambda d: "{}{:02}".format(*iso_week(d)), "date,value", "7 d"),
    "Q1'20": (QUARTERS, lambda d: f"Q{d.month // 3 + 1}'{d:%y}", "date,value", "3 months"),
    "2010-S1": (HALVES, lambda d: f"{d.year}-S{d.month // 6 + 1}", "date,value", "6 months"),
    "H1 2010": (HALVES, lambda d: f"H{d.month // 6 + 1} {d.year}", "date,value", "6 months"),
    "year and week": (WEEKS, lambda d: "{},{}".format(*iso_week(d)), "year,week,value", "7 d"),
    "year and M01": (MONTHS, lambda d: f"{d.year},M{d.month:02}", "Year,Period,value", "1 month"),
    "year and name": (MONTHS, lambda d: f"{d.year},{d:%B}", "Year,Month,value", "1 month"),
    "year and Q1": (QUARTERS, lambda d: f"{d.year},Q{d.month // 3 + 1}", "Year,Quarter,value", "3 months"),
    "year and 1": (QUARTERS, lambda d: f"{d.year},{d.month // 3 + 1}", "Year,Quarter,value", "3 months"),
    "day of year": (HOURS, lambda d: f"{d.year},{int(d.strftime('%j'))},{d.hour}", "YEAR,DOY,HR,value", "1 h"),
    "hours of NASA": (HOURS, lambda d: f"{d.year},{d.month},{d.day},{d.hour}", "YEAR,MO,DY,HR,value", "1 h"),
    "seasons to 2012": (SEASONS[:12], season("/", 2), "season,value", "1 year"),
    "seasons": (SEASONS, season("/", 2), "Season,value", "1 year"),
    "fiscal years": (SEASONS, season("-", 4), "Year,value", "1 year"),
    "hours that end": (HOURS, lambda d: f"{d.year},{d.month},{d.day},{d.hour + 1}", "year,month,day,hour,value", "1 h"),
    "HE01": (HOURS, lambda d: f"{d:%Y-%m-%d},HE{d.hour + 1:02}", "Date,Hour,value", "1 h"),
    "hhmmss": (HOURS, lambda d: f"{d:%Y%m%d,%H%M%S}", "<DATE>,<TIME>,value", "1 h"),
}


@pytest.mark.parametrize("form", DATES)
def test_a_form_of_dates_is_read(form, tmp_path):
    dates, write, header, step = DATES[form]
    text = table(dates, write, header)
    shown = described(tmp_path, text)
    assert (shown["rows"], shown["frequency"], shown["missing_cells"]) == (len(dates), step, 0)
    assert [one["name"] for one in shown["variables"]] == ["value"]
    assert shown["first"].startswith(write(dates[0])) or "," in write(dates[0])


@pytest.mark.parametrize("form", ["KW 01/2020", "KW 1/2020", "2020-W1", "202001", "2010-S1", "seasons to 2012", "seasons", "fiscal years", "hours that end", "year and week", "year and M01", "year and Q1", "day of year", "Chinese"])
def test_forecasts_are_written_in_the_form_of_the_file(form, tmp_path):
    dates, write, header, step = DATES[form]
    later = dates[-1] + (datetime.timedelta(hours=1) if step == "1 h" else dates[1] - dates[0])
    if step == "1 year":
        later = dates[-1].replace(year=dates[-1].year + 1)
    if "month" in step:  # from the first of a month to that of the next step
        months = dates[-1].year * 12 + dates[-1].month - 1 + int(step.split()[0])
        later = datetime.datetime(months // 12, months % 12 + 1, 1)
    (tmp_path / "table.csv").write_text(table(dates, write, header))
    ok("train", "forecast", tmp_path / "table.csv", "--model", "dlinear", "--horizon", 2, "--lookback", 4, "--max-steps", 1,
       "--out", tmp_path / "run", "--set", "output.report=false", "--no-test")
    assert write(later) in ok("predict", tmp_path / "run").stdout.splitlines()[1]


def short_day(hours, season):
    """Ten days around a change of the clock, that of the change with so many hours."""
    change = datetime.date(2023, 3, 26) if season == "spring" else datetime.date(2023, 10, 29)
    days = [change + datetime.timedelta(i) for i in range(-5, 5)]
    return [(day, n) for day in days for n in range(hours if day == change else 24)]


@pytest.mark.parametrize("hours, season", [(23, "spring"), (25, "autumn")])
@pytest.mark.parametrize("per_hour, name", [(1, "Hour"), (2, "SETTLEMENT_PERIOD"), (4, "Period")])
def test_numbered_hours_count_on_through_a_change_of_the_clock(hours, season, per_hour, name, tmp_path):
    rows = [f"{day},{n * per_hour + part + 1},{value(n)}" for day, n in short_day(hours, season) for part in range(per_hour)]
    shown = described(tmp_path, "\n".join([f"Date,{name},value", *rows, ""]))
    assert (shown["rows"], shown["missing_cells"]) == (len(rows), 0)
    assert any(f"has {hours} hours" in note for note in shown["notes"])


GROWING = [round(1000 + 1234.56 * i + 0.37 * i**3, 2) for i in range(60)]  # to 140,000
US = "{:,.2f}".format
EXCHANGE = str.maketrans(",.", ".,")


def indian(number):
    whole, decimals = f"{number * 100:.2f}".split(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(i - 2, 0) : i] for i in range(len(head), 0, -2)][::-1]
    return ",".join([*pairs, tail]) + "." + decimals


NUMBERS = {
    "Indian": (lambda v: f'"{indian(v)}"', ",", 100),
    "rupees": (lambda v: f'"₹ {indian(v)}"', ",", 100),
    "CHF": (lambda v: "CHF " + US(v).replace(",", "'"), ",", 1),
    "EUR": (lambda v: US(v).translate(EXCHANGE) + " EUR", ";", 1),
    "zł": (lambda v: US(v).replace(",", "\u00a0").replace(".", ",") + " zł", ";", 1),
    "reais": (lambda v: "R$ " + US(v).translate(EXCHANGE), ";", 1),
    "kWh": (lambda v: f"{v} kWh", ",", 1),
    "degrees": (lambda v: f"{v}°C", ",", 1),
    "Swiss": (lambda v: US(v).replace(",", "’"), "\t", 1),
    "French": (lambda v: US(v).replace(",", "\u202f").replace(".", ","), ";", 1),
    "SAP": (lambda v: US(v).translate(EXCHANGE) + "-", ";", -1),
}


@pytest.mark.parametrize("form", NUMBERS)
def test_a_form_of_numbers_is_read(form, tmp_path):
    write, mark, factor = NUMBERS[form]
    shown = described(tmp_path, table(DAYS, lambda d: f"{d:%Y-%m-%d}", write=write, mark=mark, values=GROWING))
    expected = [factor * v for v in GROWING]
    found = shown["variables"][0]
    assert found["missing"] == 0
    for key, wanted in (("min", min(expected)), ("max", max(expected)), ("mean", sum(expected) / len(expected))):
        assert math.isclose(found[key], wanted, rel_tol=1e-9), key


@pytest.mark.parametrize("flag", [" p", " (p)", "*", "[1]", "¹", " b", " (e)"])
def test_flags_behind_numbers_are_left_out_and_said(flag, tmp_path):
    shown = described(tmp_path, table(DAYS, lambda d: f"{d:%Y-%m-%d}", write=lambda v: f"{v}{flag}" if v > 24 else str(v)))
    found, values = shown["variables"][0], [value(i) for i in range(60)]
    assert (found["missing"], found["max"]) == (0, max(values))
    assert any(f"{sum(v > 24 for v in values)} numbers with a flag" in note for note in shown["notes"])


@pytest.mark.parametrize("text", ["..", ":", ": c", "\\N", "#NV", "unavailable", "k.A.", "\u00a0", "-1.#IND", "..."])
def test_a_missing_value_is_known(text, tmp_path):
    values = [value(i) for i in range(60)]
    shown = described(tmp_path, table(DAYS, lambda d: f"{d:%Y-%m-%d}", write=lambda v: text if v in values[3:6] else str(v)))
    assert shown["missing_cells"] == 3 and any("3 cells" in note or "missing" in note for note in shown["notes"])


def rows(count=60, extra=""):
    return [f"{day:%Y-%m-%d},{value(i)}{extra}" for i, day in enumerate(DAYS[:count])]


LAYOUTS = {
    "a header in the middle": (["date,value", *rows()[:30], "date,value", *rows()[30:]], "repetition of the header"),
    "rows that end in a delimiter": (["date,value", *rows(extra=",")], "empty column"),
    "a header that ends in one": (["date,value,", *rows()], None),
    "row names of R": (["date,value", *(f"{i + 1},{row}" for i, row in enumerate(rows()))], "row index"),
    "spaces": (["date     value", *(row.replace(",", "   ") for row in rows())], "spaces"),
    "a comment as header": (["# date value", *(row.replace(",", " ") for row in rows())], "header"),
    "a date of the update": (["updated,date,value", *(f"2024-06-28 23:00,{row}" for row in rows())], "dates"),
    "numbered rows": (["id,date,value", *(f"{i + 17},{row}" for i, row in enumerate(rows()))], "row index"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_read(layout, tmp_path):
    lines, said = LAYOUTS[layout]
    shown = described(tmp_path, "\n".join([*lines, ""]), name="table.txt")
    values = [value(i) for i in range(60)]
    assert (shown["rows"], shown["frequency"]) == (60, "1 d")
    assert [(one["name"], one["min"], one["max"]) for one in shown["variables"]] == [("value", min(values), max(values))]
    assert said is None or any(said in note for note in shown["notes"])


@pytest.mark.parametrize("behind", [["Total"], ["Total", "Change %"], []])
@pytest.mark.parametrize("names", [[str(y) for y in range(2000, 2020)], ["2000", "2001", "2005", "2006"], [f"{m}-20" for m in "Jan Feb Mar Apr".split()]])
def test_dates_of_a_header_may_have_gaps_and_a_total_behind(names, behind, tmp_path):
    cells = {city: [100 * k + i for i in range(len(names))] for k, city in enumerate(("Rome", "Oslo", "Bern"))}
    lines = [",".join(["City", *names, *behind]), *(",".join([city, *map(str, values), *("9.5%" for _ in behind)]) for city, values in cells.items())]
    shown = described(tmp_path, "\n".join([*lines, ""]))
    assert shown["modes"][0]["labels"] == list(cells)
    assert [(one["min"], one["max"]) for one in shown["variables"]] == [(min(values), max(values)) for values in cells.values()]
    assert shown["rows"] == (7 if names[2] == "2005" else len(names))
    assert any("behind the dates" in note for note in shown["notes"]) == bool(behind)
    columns = described(tmp_path, "\n".join([*lines, ""]), "data.orient=columns")
    assert [one["name"] for one in columns["variables"]] == [*names, *behind] and columns["rows"] == 3


def test_quarters_in_columns_are_read_as_one_series(tmp_path):
    lines = ["Year,Q1,Q2,Q3,Q4", *(f"{2000 + i},{4 * i},{4 * i + 1},{4 * i + 2},{4 * i + 3}" for i in range(20))]
    shown = described(tmp_path, "\n".join([*lines, ""]), "data.orient=periods")
    assert (shown["rows"], shown["frequency"], shown["first"], shown["last"]) == (80, "3 months", "2000-Q1", "2019-Q4")
    assert shown["variables"][0]["mean"] == 39.5


def test_an_id_that_alternates_is_a_category_with_a_warning(tmp_path):
    lines = ["date,store,value", *(f"{day:%Y-%m-%d},{'BA'[i % 2]},{i + 1000 * (i % 2)}" for i, day in enumerate(DAYS))]
    result = show(tmp_path, "\n".join([*lines, ""]))
    assert "read as one series, though column 'store' may name several: data.id = store reads one for each" in result.stderr
    assert [one["name"] for one in json.loads(result.stdout)["variables"]] == ["value"]
    shown = described(tmp_path, "\n".join([*lines, ""]), "data.id=store", "data.panel=no")
    assert shown["modes"][0]["labels"] == ["B", "A"]
    assert [(one["min"], one["max"]) for one in shown["variables"]] == [(0, 58), (1001, 1059)]
    assert "may name several" not in show(tmp_path, "\n".join([*lines, ""]), "data.id=none").stderr


@pytest.mark.parametrize("name, first, text", [("timestamp", 36000, "Excel: 36000 is 1998-07-24"), ("counter", 1600000000, "1600000000 is 2020-09-13 12:26:40")])
def test_numbers_that_are_taken_for_dates_are_said(name, first, text, tmp_path):
    shown = described(tmp_path, "\n".join([f"{name},value", *(f"{first + i},{value(i)}" for i in range(60)), ""]))
    assert any(text in note and "data.time_format" in note for note in shown["notes"])


def trained(tmp_path, text, name="table.csv"):
    (tmp_path / name).write_text(text)
    ok("train", "forecast", tmp_path / name, "--model", "repeat", "--horizon", 2, "--lookback", 4, "--out", tmp_path / "run", "--no-test",
       "--set", "output.report=false")
    return tmp_path / "run"


def test_newer_data_in_another_unit_are_refused(tmp_path):
    def with_unit(unit):
        return "\n".join(["date,load", *(f"{day:%Y-%m-%d},{i + 0.5}{unit}" for i, day in enumerate(DAYS)), ""])

    run = trained(tmp_path, with_unit(" kWh"))
    for command in ("predict", "evaluate"):
        (tmp_path / "new.csv").write_text(with_unit(" MWh"))
        result = modewise(command, run, "--data", tmp_path / "new.csv")
        assert result.returncode == 65
        assert "the unit of column 'load' is MWh, but the run was trained on" in result.stderr and "where it is kWh" in result.stderr
    (tmp_path / "new.csv").write_text(with_unit(""))
    assert "column 'load' has no unit, but the run was trained on" in ok("predict", run, "--data", tmp_path / "new.csv").stderr
    (tmp_path / "new.csv").write_text(with_unit(" kWh"))
    assert "unit" not in ok("predict", run, "--data", tmp_path / "new.csv").stderr


def test_newer_data_of_a_panel_in_another_unit_are_refused(tmp_path):
    def with_unit(unit):
        return "\n".join(["unique_id,ds,load", *(f"{name},{day:%Y-%m-%d},{i + 0.5}{unit}" for name in "ab" for i, day in enumerate(DAYS)), ""])

    (tmp_path / "table.csv").write_text(with_unit(" kWh"))
    run = tmp_path / "run"
    ok("train", "forecast", tmp_path / "table.csv", "--model", "repeat", "--horizon", 2, "--set", "data.panel=yes", "--out", run, "--set", "output.report=false")
    (tmp_path / "new.csv").write_text(with_unit(" MWh"))
    result = modewise("predict", run, "--data", tmp_path / "new.csv")
    assert result.returncode == 65 and "the unit of column 'load' is MWh" in result.stderr and "table.csv, where it is kWh" in result.stderr
    (tmp_path / "new.csv").write_text(with_unit(" kWh"))
    assert "unit" not in ok("predict", run, "--data", tmp_path / "new.csv").stderr


def test_rows_for_the_lookback_are_counted(tmp_path):
    text = "\n".join(["date,value", *(f"{day:%Y-%m-%d},{i}" for i, day in enumerate(DAYS)), ""])
    run = trained(tmp_path, text)
    (tmp_path / "new.csv").write_text("\n".join(text.splitlines()[:4]) + "\n")
    result = modewise("predict", run, "--data", tmp_path / "new.csv")
    assert result.returncode == 65 and "3 rows, but the model's lookback is 4 rows" in result.stderr


@pytest.mark.parametrize("last", [1234567929, 12345814.75, 0.5, 285.25])
def test_a_forecast_has_the_digits_of_its_series(last, tmp_path):
    text = "\n".join(["date,value", *(f"{day:%Y-%m-%d},{last - 59 + i!r}" for i, day in enumerate(DAYS)), ""])
    printed = ok("predict", trained(tmp_path, text)).stdout.splitlines()
    assert [float(line.split(",")[1]) for line in printed[1:]] == pytest.approx([last] * 2, abs=1e-4)


def test_merged_cells_of_a_header_name_all_their_columns(tmp_path):
    lines = ["Date,North,,South,", ",Sales,Units,Sales,Units", *(f"{day:%Y-%m-%d},{i},{i + 100},{i + 200},{i + 300}" for i, day in enumerate(DAYS))]
    shown = described(tmp_path, "\n".join([*lines, ""]), "data.header_rows=2")
    assert [(one["name"], one["min"]) for one in shown["variables"]] == [("North Sales", 0), ("North Units", 100), ("South Sales", 200), ("South Units", 300)]
    assert "data.header_rows = 2" in show(tmp_path, "\n".join([*lines, ""])).stderr


def test_names_with_line_breaks_are_kept(tmp_path):
    text = "\n".join(['date,"load\n[kWh]"', *(f"{day:%Y-%m-%d},{i}" for i, day in enumerate(DAYS)), ""])
    (tmp_path / "table.csv").write_text(text)
    ok("train", "forecast", tmp_path / "table.csv", "--model", "repeat", "--horizon", 2, "--lookback", 4, "--out", tmp_path / "run")
    ok("predict", tmp_path / "run", "--out", tmp_path / "f.csv")
    assert list(pandas.read_csv(tmp_path / "f.csv").columns[:2]) == ["date", "load\n[kWh]"]


YEARS = list(range(2019, 1959, -1))


def test_years_in_the_header_may_descend(tmp_path):
    lines = ["\t".join(["unit,geo\\time", *(f"{y} " for y in YEARS)])]
    lines += ["\t".join([f"PC,{geo}", *(f"{y - 1960 + i}.5 " if y % 9 else ": " for y in YEARS)]) for i, geo in enumerate(("AT", "BE"))]
    shown = described(tmp_path, "\n".join([*lines, ""]), name="table.tsv")
    assert (shown["rows"], shown["frequency"], shown["modes"][0]["labels"]) == (60, "1 year", ["PC,AT", "PC,BE"])
    assert [one["max"] for one in shown["variables"]] == [59.5, 60.5]
    assert shown["missing_cells"] == 2 * sum(y % 9 == 0 for y in YEARS)


@pytest.mark.parametrize("name", ["NA", "nan", "None"])
def test_a_series_may_be_named_like_a_missing_value(name, tmp_path):
    lines = ["unique_id,ds,y", *(f"{series},{row}" for series in (name, "DE") for row in rows())]
    assert described(tmp_path, "\n".join([*lines, ""]))["modes"][0]["labels"] == [name, "DE"]


def wide(names):
    return ["date," + ",".join(names), *(f"{day:%Y-%m-%d}," + ",".join(str(i + k) for k in range(len(names))) for i, day in enumerate(DAYS))]


MONTH_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
REFUSED = {
    "titles of a sheet": (["Report of 2024,", "made 2024-05-01,", ",", "date,value", *rows()], ["data.skip_lines = 1-3"]),
    "a column for each quarter": (["Year,Q1,Q2,Q3,Q4", *(f"{1990 + i},1,2,3,4" for i in range(20))], ["'Q1' to 'Q4'", "data.orient = periods", "data.orient = columns"]),
    "months in rows and years in columns": (["Month,2019,2020,2021,2022", *(f"{m},1,2,3,4" for m in MONTH_NAMES)], ["months", "transposed", "data.orient = rows"]),
    "ids without dates": (["unique_id,y", *(f"{name},{i}" for name in "ab" for i in range(9))], ["'unique_id' names 2 series", "data.panel = yes", "data.id = none"]),
    "a dash for an amount": (["date,value", "2024-01-01,(5.00)", "2024-01-02,-", "2024-01-03,7.00"], ["data.missing_texts = -"]),
    "a row without a date": (["date,value", *rows()[:20], ",18", *rows()[21:]], ["table.csv:22", "data.skip_lines = 22"]),
    "merged cells of dates": (["date,value", *(row if i % 2 else f",{i}" for i, row in enumerate(rows()))], ["merged", "29 others"]),
    "lines above the header": (["Report of 2024", "", "date,value", *rows()], ["data.skip_lines = 1-2"]),
    "more cells below": (["Station:,Berlin,x", "date,value", *rows()], ["data.skip_lines = 1 "]),
    "a source at the end": (["date,value", *rows(), "", "Source: a bank"], ["table.csv:63", "data.skip_lines = 63"]),
    "a sum at the end": (["date,value", *rows(), "Total,99"], ["table.csv:62", "data.skip_lines = 62"]),
    "a column for each month": (["Year," + ",".join(MONTH_NAMES), *(f"{1950 + i}," + ",".join("123456789012") for i in range(20))],
                                ["'Jan' to 'Dec'", "data.orient = columns"]),
    "a column for each hour": (wide([f"H{h:02}" for h in range(1, 25)]), ["'H01' to 'H24'", "data.orient = columns"]),
    "a column for each clock": (wide([f"{h:02}:00" for h in range(24)]), ["'00:00' to '23:00'", "data.orient = columns"]),
    "series without a header": (["T1," + ",".join("123456789"), "T2," + ",".join("987654321")], ["data.orient = rows"]),
    "fiscal years": (["Year,value", *(f"FY{1960 + i},{i}" for i in range(20))], ["'FY1960' in line 2", "data.time_format"]),
    "a mean of the year": (["Year,Period,value", *(f"{y},M{m:02},{m}" for y in (2020, 2021) for m in range(1, 14))],
                           ["table.csv:14", "M13", "data.skip_lines = 14"]),
    "an HTML page": (["<!DOCTYPE html><html><body>sign in</body></html>"], ["an HTML page"]),
    "JSON": ([json.dumps([{"date": "2024-01-01", "value": 1}])], ["JSON", "pandas.read_json"]),
    "one cell of text": (["date,value", *rows()[:20], "2024-01-21,closed", *rows()[21:]], ["data.missing_texts = closed"]),
}


@pytest.mark.parametrize("layout", REFUSED)
def test_a_layout_is_refused_with_a_remedy(layout, tmp_path):
    lines, words = REFUSED[layout]
    result = show(tmp_path, "\n".join([*lines, ""]))
    assert result.returncode in (65, 66), result.stdout[-300:]
    for word in words:
        assert word in result.stderr, result.stderr


@pytest.mark.parametrize("lines, words", [
    (["t,value", *(f"{i / 10},{value(i)}" for i in range(60))], ["'t' rise evenly"]),
    (["date,memory,value", *(f"{d:%Y-%m-%d},{value(i)} {'MiB' if i % 2 else 'GiB'},{i}" for i, d in enumerate(DAYS))], ["'memory' holds numbers"]),
    (["sample,value", *(f"2024 no {i},{value(i)}" for i in range(60))], ["'sample'", "not a date"]),
])
def test_a_doubtful_column_is_said_on_stderr(lines, words, tmp_path):
    result = show(tmp_path, "\n".join([*lines, ""]))
    assert result.returncode == 0
    for word in words:
        assert word in result.stderr


def test_years_of_two_digits_are_said(tmp_path):
    note = "years of two digits are read as 1969 to 2068"
    assert note in described(tmp_path, table(DAYS, lambda d: f"{d:%d.%m.%y}"))["notes"]
    assert note not in described(tmp_path, table(DAYS, lambda d: f"{d:%d.%m.%Y}"))["notes"]


def test_a_column_of_one_number_is_said(tmp_path):
    rows = "\n".join(f"{d:%Y-%m-%d},7,{value(i)}" for i, d in enumerate(DAYS))
    data = described(tmp_path, f"date,station,value\n{rows}\n")
    assert data["modes"][0]["labels"] == ["station", "value"]
    note = "column 'station' has the value 7 in every row and is kept as a variable; data.drop = station leaves it out"
    assert data["notes"] == [note]


FRAME = pandas.DataFrame({"date": [f"{day:%Y-%m-%d}" for day in DAYS], "load": [value(i) for i in range(60)], "count": range(60)})
BY_DATE = FRAME.set_index("date")


def printed(mark, ends=("", ""), cross=" ", box=False, last=""):
    """The table with padded cells and a rule of dashes below the header, or three as a box."""
    cells = [list(FRAME.columns), *FRAME.astype(str).to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [ends[0] + mark.join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + ends[1] for row in cells]
    rule = cross.join("-" * (width + len(ends[0].lstrip("|")) * 2) for width in widths)
    if box:
        lines = [f"+{rule}+", lines[0], f"+{rule}+", *lines[1:], f"+{rule}+"]
    else:
        lines.insert(1, ends[0].strip() + rule + ends[1].strip())
    return "\n".join([*lines, last, ""])


PRINTED = {
    "pandas": FRAME.to_string(),
    "pandas without index": FRAME.to_string(index=False),
    "R": FRAME.to_csv(sep=" ", quoting=csv.QUOTE_NONNUMERIC, index_label=False),
    "R, counted from 1": FRAME.set_axis(range(1, 61)).to_csv(sep=" ", quoting=csv.QUOTE_NONNUMERIC, index_label=False),
    "R, names of dates": BY_DATE.to_csv(sep=" ", quoting=csv.QUOTE_NONNUMERIC, index_label=False),
    "names of dates": BY_DATE.to_csv(index_label=False),
    "psql": printed(" | ", (" ", " "), "+", last="(60 rows)"),
    "MySQL": printed(" | ", ("| ", " |"), "+", box=True, last="60 rows in set (0.00 sec)"),
    "sqlcmd": printed(" ", last="\n(60 rows affected)"),
    "SQLite": printed("  ", cross="  "),
    "Markdown": printed(" | ", ("| ", " |"), "|"),
}


@pytest.mark.parametrize("name", ["table.csv", "table.txt"])
@pytest.mark.parametrize("program", PRINTED)
def test_a_printed_table_is_read_as_its_csv(program, name, tmp_path):
    expected = described(tmp_path, FRAME.to_csv(index=False))
    data = described(tmp_path, PRINTED[program], name=name)
    for key in expected.keys() - {"source", "notes"}:
        assert data[key] == expected[key], key


HOURLY = pandas.DataFrame({"date": HOURS, "load": [value(i) for i in range(240)]})


@pytest.mark.parametrize("program", ["pandas", "pandas, no index", "pandas, index of dates", "spaces"])
def test_hours_of_a_printed_table_are_read_as_its_csv(program, tmp_path):
    text = {
        "pandas": HOURLY.to_string(),
        "pandas, no index": HOURLY.to_string(index=False),
        "pandas, index of dates": HOURLY.set_index("date").rename_axis(None).to_string(),
        "spaces": "date load\n" + "".join(f"{date:%Y-%m-%d %H:%M:%S} {load}\n" for date, load in HOURLY.itertuples(index=False)),
    }[program]
    expected, data = (described(tmp_path, form) for form in (HOURLY.to_csv(index=False), text))
    for key in expected.keys() - {"source", "notes"}:
        assert data[key] == expected[key], key


@pytest.mark.parametrize("text, name", [
    (json.dumps([{"date": "2024-01-01", "value": 1}], indent=2), "JSON"),
    ("INSERT INTO loads VALUES ('2024-01-01', 3.5);\n", "SQL"),
    ("┌──────┬───┐\n│ date │ x │\n├──────┼───┤\n└──────┴───┘\n", "a table drawn with lines"),
])
def test_a_text_of_another_format_is_named(text, name, tmp_path):
    result = show(tmp_path, text)
    assert result.returncode == 65
    assert f"expected a table, got {name}; " in result.stderr
