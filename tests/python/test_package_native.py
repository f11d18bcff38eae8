"""How the package finds its libraries, what it says where they do not fit, its version, types and program."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch

import modewise
from cli_helpers import PROGRAM, ROOT
from modewise import _native


def test_the_version_is_that_of_the_project():
    written = re.search(r"project\(modewise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert modewise.__version__ == written


@pytest.mark.parametrize("built, installed", [("2.13.0", "2.12.1+cpu"), ("2.13.0", "3.13.0"), ("2.1.0", "2.13.0")])
def test_a_torch_of_another_minor_version_is_refused(built, installed):
    with pytest.raises(ImportError) as error:
        _native.require_torch(built, installed)
    wanted = ".".join(built.split(".")[:2])
    assert str(error.value) == (
        f"modewise was built for torch {wanted} and torch {installed} is installed: install torch {wanted} "
        f"(pip install 'torch=={wanted}.*'), or build modewise against this torch")  # fmt: skip


@pytest.mark.parametrize("installed", ["2.13.0", "2.13.5+cu130"])
def test_a_torch_of_the_same_minor_version_is_taken(installed):
    _native.require_torch("2.13.0", installed)


def test_without_libraries_the_import_says_where_it_looked(tmp_path):
    """A subprocess: the package is imported once in each."""
    run = subprocess.run([sys.executable, "-c", "import modewise"], capture_output=True, text=True,
                         env={"PYTHONPATH": str(ROOT / "python"), "MODEWISE_BUILD": str(tmp_path)})  # fmt: skip
    assert run.stderr.strip().splitlines()[-1] == (
        f"ImportError: modewise: there are no libraries in {ROOT}/python/modewise/lib or {tmp_path}/lib: "
        "install a wheel, or build the clone with ./dev build")  # fmt: skip


def test_python_m_is_the_program():
    for arguments in (["--version"], ["predict", "/nowhere/run"]):
        mine = subprocess.run([sys.executable, "-m", "modewise", *arguments], capture_output=True, text=True, cwd="/",
                              env={"PYTHONPATH": str(ROOT / "python"), "MODEWISE_BUILD": str(PROGRAM.parents[1])})  # fmt: skip
        theirs = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd="/")
        assert (mine.returncode, mine.stdout, mine.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
    assert theirs.returncode == 66


INSTALLED = """
import json, pathlib, torch, modewise
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libmodewise" in line or "libgomp" in line}
y = modewise.ops.linear(torch.ones(2, 3), torch.ones(4, 3))
run = modewise.tasks.train("forecasting", {"model.name": "repeat", "data.simulate": "lorenz96", "data.simulate_rows": 300,
                                        "output.report": False}, out="run", verbosity=-1)["run"]
print(json.dumps([modewise.__file__, y.sum().item(), sorted({str(pathlib.Path(name).parent) for name in maps}), run]))
"""


def test_the_installed_layout_needs_no_build_folder(tmp_path):
    """The content of a wheel without the system's libraries: files of the package, libraries, the program."""
    build = PROGRAM.parents[1]
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]
    site = tmp_path / "site-packages"
    subprocess.run([cmake, "--install", build, "--component", "python", "--prefix", site], check=True, capture_output=True)
    shutil.copytree(ROOT / "python/modewise", site / "modewise", dirs_exist_ok=True)
    libraries = sorted((site / "modewise/lib").glob("*.so"))
    assert len(libraries) == len(list((build / "lib").glob("libmodewise_*.so")))
    for file in [*libraries, site / "modewise/bin/modewise"]:
        dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        paths = re.search(r"R(?:UN)?PATH.*\[(.*)\]", dynamic)[1].split(":")
        assert {"$ORIGIN", "$ORIGIN/../lib", "$ORIGIN/../../torch/lib"} <= set(paths)
        assert not any(str(ROOT) in path for path in paths)
    environment = {"PYTHONPATH": str(site), "MODEWISE_BUILD": "/nowhere"}
    run = subprocess.run([sys.executable, "-c", INSTALLED], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stderr
    file, total, folders, made = json.loads(run.stdout)
    assert (file, total, made) == (f"{site}/modewise/__init__.py", 24.0, "run")
    assert folders == sorted([f"{site}/modewise/lib", str(pathlib.Path(torch.__file__).parent / "lib")])
    said = subprocess.run([sys.executable, "-m", "modewise", "--version"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert said.stdout.startswith(f"modewise {modewise.__version__} (")


def test_types_hold_under_mypy_strict():
    assert (ROOT / "python/modewise/py.typed").is_file()
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", str(PROGRAM.parents[1] / "mypy_cache")],
                         cwd=ROOT, capture_output=True, text=True)  # fmt: skip
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("line, finding", [("", None), ("modewise.ops.linear(1, 2)", "arg-type"), ("modewise.Forecaster(horizons=3)", "call-arg")])
def test_a_user_of_the_package_passes_mypy_strict(tmp_path, line, finding):
    """With the package as it is installed: a wrong call is found, too."""
    (tmp_path / "user.py").write_text((ROOT / "tests/python/typed_user.py").read_text() + line + "\n")
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "--ignore-missing-imports", "user.py",
                          "--cache-dir", str(PROGRAM.parents[1] / "mypy_cache_user")],
                         cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT / "python")})  # fmt: skip
    assert (run.returncode == 0) == (finding is None), run.stdout
    assert finding is None or f"[{finding}]" in run.stdout


def test_the_torch_of_dev_and_of_the_package_are_one():
    dev = re.search(r"^torch=torch==(\d+\.\d+)", (ROOT / "dev").read_text(), re.M)[1]
    package = re.findall(r'"torch==([^"]+)"', (ROOT / "pyproject.toml").read_text())
    assert package == [f"{dev}.*"] * 2


def test_every_module_has_a_docstring_and_stays_small():
    for file in pathlib.Path(ROOT / "python/modewise").rglob("*.py"):
        text = file.read_text()
        assert text.startswith('"""'), file
        assert text.count("\n") <= 400, file


@pytest.mark.parametrize("command", [[str(PROGRAM), "--version"], [sys.executable, "-c", "import modewise.tasks"]], ids=["program", "package"])
def test_the_standard_librarys_files_are_not_those_of_torch(command):
    """libtorch exports parts of an older std::filesystem; those of the CUDA build of 2.11 crash."""
    found = subprocess.run(command, capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "LD_BIND_NOW": "1", "LD_DEBUG": "bindings"})  # fmt: skip
    ours = [line for line in found.stderr.splitlines() if re.search(r"binding file \S*libmodewise_\w+\.so .*`_ZNK?St10filesystem", line)]
    assert len(ours) > 20
    assert not [line for line in ours if re.search(r" to \S*/lib(torch|c10)", line)]
