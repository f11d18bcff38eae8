"""The layout of the wheel: the program on the PATH, the folder of CMake files, and a C++ program that is built from it alone.

The files are those of `cmake --install build --component python`, or of the wheel that MODEWISE_WHEEL names, with torch beside them.
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest
import torch

import modewise
from cli_helpers import PROGRAM, ROOT
from installed_package import cmake, install_package
from modewise import _native

BUILD = PROGRAM.parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return install_package(tmp_path_factory.mktemp("wheel") / "site-packages")


def python(site, *arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=site,
                          env={**os.environ, "PYTHONPATH": str(site), "MODEWISE_BUILD": "/nowhere"})  # fmt: skip


def script(folder):
    """The script as pip puts it on the PATH: the folder of a script is searched for modules, and has none there."""
    (folder / "bin").mkdir()
    return shutil.copy(ROOT / "python/program.py", folder / "bin/modewise")


def test_the_script_of_the_wheel_is_the_program(site, tmp_path):
    program = script(tmp_path)
    said = python(site, program, "--version")
    assert (said.returncode, said.stderr) == (0, "") and said.stdout.startswith(f"modewise {modewise.__version__} (")
    assert python(site, program, "predict", "/nowhere/run").returncode == 66


def test_the_script_refuses_another_torch(site, tmp_path):
    shutil.copytree(site / "modewise/lib", tmp_path / "modewise/lib", ignore=lambda _, names: [name for name in names if name.endswith(".so")])
    (tmp_path / "modewise/__init__.py").touch()
    program = script(tmp_path)
    (tmp_path / "torch").symlink_to(site / "torch")
    (tmp_path / "torch-2.12.1.dist-info").mkdir()
    (tmp_path / "torch-2.12.1.dist-info/METADATA").write_text("Name: torch\nVersion: 2.12.1\n")
    said = python(tmp_path, program, "--version")
    minor = _native.minor_version(torch.__version__)
    assert (said.returncode, said.stderr) == (
        1, f"error: modewise was built for torch {minor} and torch 2.12.1 is installed: install torch {minor} (pip install 'torch=={minor}.*')\n")  # fmt: skip


def test_the_folder_of_cmake_files(site):
    said = python(site, "-m", "modewise", "--cmake-dir")
    assert said.stdout == f"{site}/modewise/lib/cmake/modewise\n"
    text = (site / "modewise/lib/cmake/modewise/modewiseTargets.cmake").read_text()
    assert str(ROOT) not in text and "/usr" not in text


def test_a_clone_has_no_cmake_files():
    run = subprocess.run([sys.executable, "-m", "modewise", "--cmake-dir"], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "MODEWISE_BUILD": str(BUILD)})  # fmt: skip
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (f"error: {ROOT}/python/modewise/lib/cmake/modewise has no modewiseConfig.cmake: install a wheel, or in a clone "
                          "`cmake --install build --prefix P`, and use P/lib/cmake/modewise\n")  # fmt: skip


def test_a_program_is_built_from_the_wheel_alone(site, tmp_path):
    """With the compiler alone: fmt and nlohmann_json come from the wheel."""
    folder = python(site, "-m", "modewise", "--cmake-dir").stdout.strip()
    environment = {name: value for name, value in os.environ.items() if name not in ("CMAKE_PREFIX_PATH", "LD_LIBRARY_PATH")}
    configured = subprocess.run([cmake(), "-S", ROOT / "examples/cpp", "-B", tmp_path, f"-Dmodewise_DIR={folder}", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON",
                                 "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON"], capture_output=True, text=True, env=environment)  # fmt: skip
    assert configured.returncode == 0, configured.stderr
    built = subprocess.run([cmake(), "--build", tmp_path, "--target", "kronecker_attention"], capture_output=True, text=True, env=environment)
    assert built.returncode == 0, built.stdout + built.stderr
    printed = subprocess.run([tmp_path / "kronecker_attention"], capture_output=True, text=True, env=environment)
    assert printed.stdout.startswith("7 x 24 = 168 tokens: factors of 49 and 576 weights a head, the full matrix has 28224\n"), printed.stderr


@pytest.mark.parametrize("reason, remedy", [
    ("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by x.so)", "it needs glibc 2.38 or later, and this system has glibc "),
    ("libfoo.so: cannot open shared object file", "build it with ./dev build in the clone, or install the package again"),
])  # fmt: skip
def test_an_old_glibc_is_named(reason, remedy):
    assert _native.load_remedy(reason).startswith(remedy)


def test_the_wheel_states_what_it_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11" and "torch==2.13.*" in project["dependencies"]
    assert "Python 3.11, glibc 2.35" in (ROOT / "README.md").read_text()


def wheel_file():
    """The wheel that MODEWISE_WHEEL names, or the one that ./dev wheel made."""
    made = [os.environ["MODEWISE_WHEEL"]] if "MODEWISE_WHEEL" in os.environ else [*(BUILD / "wheel").glob("modewise-*.whl")]
    return zipfile.ZipFile(made[0]) if made else pytest.skip("./dev wheel has made no wheel")


# Words of each library's licence, by the beginning of its file's name. libjbig is python/libjbig_stub.c.
LICENCES = {
    "libLerc": "Esri", "libdeflate": "Eric Biggers", "libfmt": "Victor Zverovich", "libjpeg": "Independent JPEG Group",
    "liblzma": "Lasse Collin", "libpcre2": "PCRE2", "libpng16": "Glenn Randers-Pehrson", "libspdlog": "Gabi Melman",
    "libstemmer": "Martin Porter", "libtiff": "Sam Leffler", "libtomlplusplus": "Mark Gillard", "libwebp": "Google", "libxxhash": "Yann Collet",
    "libzstd": "Facebook", "libcli11": "University of Cincinnati", "nlohmann": "Niels Lohmann", "libjbig": None,
}  # fmt: skip


def test_the_licences_of_all_libraries_are_in_the_wheel():
    with wheel_file() as wheel:
        libraries = {found[1] for name in wheel.namelist() if (found := re.match(r"modewise\.libs/([a-zA-Z0-9]+)-", name))}
        texts = [wheel.read(name).decode() for name in wheel.namelist() if re.search(r"\.dist-info/licenses/.+\.txt$", name)]
        record = wheel.read(next(name for name in wheel.namelist() if name.endswith("/RECORD"))).decode()
    assert libraries <= LICENCES.keys()  # another library needs a row and its licence
    assert [name for name, words in LICENCES.items() if words and not any(words in text for text in texts)] == []
    assert record.count("/licenses/") == len(texts) + 1
    assert not any("GNU GENERAL PUBLIC" in text and "jbig" in text.lower() for text in texts)


def test_the_stub_of_libjbig_refuses_every_image(tmp_path):
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", tmp_path / "stub.so", ROOT / "python/libjbig_stub.c"], check=True)
    stub = ctypes.CDLL(str(tmp_path / "stub.so"))
    assert stub.jbg_dec_in(None, b"", 0, None) != 0
    stub.jbg_strerror.restype = ctypes.c_char_p
    assert b"not supported" in stub.jbg_strerror(1)
