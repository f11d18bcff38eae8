"""Mutation testing (tests/mutation): its changes, each kind on a line of C++ and of Python; what it compiles and runs."""

import ast
import subprocess
import sys

import pytest

from programs import BUILD, ROOT, built

sys.path.insert(0, str(ROOT / "tests" / "mutation"))
import mutant as mutation
import mutate

CPP = """int f(int a, int b) {{
  {}
}}
"""
PYTHON = """def f(a, b):
    {}
"""
CHANGES = [
    ("cpp", "return a + b;", {"return a - b;", "return a;"}),
    ("cpp", "if (a < b) return a;", {"if (a <= b) return a;", "if (false && (a < b)) return a;"}),
    ("cpp", "return a == b && a != 2;", {"return a != b && a != 2;", "return a == b && a == 2;", "return a == b || a != 2;", "return a == b != 2;",
                                         "return a == b && a != 3;", "return a == b && a != 1;"}),
    ("cpp", "return std::min(a, b);", {"return std::max(a, b);", "return std::min(b, a);"}),
    ("cpp", "g(a, true);", {"g(a, false);", "g(true, a);", ";"}),
    ("cpp", "require(!a);", {"require(a);", ";"}),
    ("cpp", "return a ? a : b;", {"return a ? b : a;"}),
    ("cpp", 'return "a + b";  // a + b', set()),
    ("cpp", "reserve(a + b);", set()),
    ("python", "return a + b", {"return a - b", "return a"}),
    ("python", "return a // (b)", {"return a * (b)", "return a"}),
    ("python", "if a < b <= a: return a", {"if a <= b <= a: return a", "if a < b < a: return a", "if False and (a < b <= a): return a"}),
    ("python", "return a in b and a is not None", {"return a not in b and a is not None", "return a in b and a is None",
                                                   "return a in b or a is not None", "return a in b"}),
    ("python", "return min(a, b)", {"return max(a, b)", "return min(b, a)"}),
    ("python", "return [not a, -b, 1, False]", {"return [a, -b, 1, False]", "return [not a, b, 1, False]", "return [not a, -b, 2, False]",
                                                "return [not a, -b, 0, False]", "return [not a, -b, 1, True]"}),
    ("python", "return 'é', a if b else 2", {"return 'é', 2 if b else a", "return 'é', a if b else 3", "return 'é', a if b else 1"}),
    ("python", "a.x = b", {"pass"}),
    ("python", "a = b", set()),
    ("python", "return f'{a + b}', 'a + b'  # a + b", set()),
]  # fmt: skip


@pytest.mark.parametrize("language, line, wanted", CHANGES, ids=[f"{language} {line}" for language, line, _ in CHANGES])
def test_changes(language, line, wanted):
    frame, suffix = {"cpp": (CPP, ".cpp"), "python": (PYTHON, ".py")}[language]
    text = frame.format(line)
    made = [one.apply(text) for one in mutation.mutants_of("layer", "file", suffix, text)]
    assert len(made) == len(set(made))
    assert set(made) == {frame.format(one) for one in wanted}


def test_only_functions_are_changed():
    assert not list(mutation.mutants_of("layer", "file", ".py", "SIZE = 2 + 3\nclass A:\n    x: int = 1\n"))
    assert not list(mutation.mutants_of("layer", "file", ".cpp", "constexpr int kSize = 2 + 3;\nstruct A { int x = 1; };\n"))


def test_python_changes_are_python():
    for path in [ROOT / "python" / "modewise" / name for name in ("estimator.py", "labelled_arrays.py", "calibration.py")]:
        text = path.read_text()
        for one in mutation.mutants_of("python", path.name, ".py", text):
            ast.parse(one.apply(text))


def test_draw_takes_each_layer_in_turn(tmp_path):
    (tmp_path / "a.cpp").write_text(CPP.format("return a + b;"))
    (tmp_path / "b.py").write_text(PYTHON.format("return a - b"))
    files = {"first": [tmp_path / "a.cpp"], "second": [tmp_path / "b.py"]}
    drawn = list(mutation.draw(tmp_path, files, seed=1))
    assert [one.layer for one in drawn] == ["first", "second"] * 2
    assert {one.name for one in drawn} == {"a.cpp:2:11 sign -", "a.cpp:2:11 term dropped", "b.py:2:14 sign +", "b.py:2:12 term a"}
    assert drawn == list(mutation.draw(tmp_path, files, seed=1))


def test_each_source_is_compiled(tmp_path):
    bench = mutate.Bench(BUILD, tmp_path, sys.executable)
    for layer in sorted(set(mutate.STAGES) - {"python"}):
        files = mutate.sources(layer, "*")
        assert files and all(bench.units(file) for file in files)  # units ends the process where there is no command


def test_long_tests_are_left_out():
    for only in ("", "*Passes"):
        command = [word.format(build=built("shard_sample").parents[1]) for word in mutate.program("shard_sample", only)]
        listed = subprocess.run([*command, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
        assert "  Passes\n" in listed and "LONG_" not in listed
