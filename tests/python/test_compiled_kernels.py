"""Kernels compiled ahead of time and their launcher in C++ (modewise/ops/cuda/cubin_launcher.h), on CPU tensors, with a stand-in
for the CUDA driver (tests/ops/stand_in_cuda.cpp) that compares each launch with the cubin and runs nothing."""

import json
import os
import struct
import subprocess
import sys

import pytest

from programs import BUILD, ROOT
from python_forks import run_script
from triton_version import missing

KERNEL = "short_attention bf16 bf16 bf16 bf16 bf16 ROWS=32 COLS=32 D=64 E=64 HEAD=64 VALUE=64 CAUSAL=1"
DRIVER = str(BUILD / "lib" / "libstand_in_cuda.so")
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def compile_kernels(folder):
    command = [sys.executable, "-m", "modewise.triton.compile", folder / "kernels", "--only", KERNEL, "--processes", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TRITON_CACHE_DIR": str(folder / "cache")})
    assert done.returncode == 0, done.stderr
    return folder / "kernels"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return compile_kernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def index(kernels, tmp_path):
    """A copy of the kernels, and a function that writes a changed index."""
    for file in kernels.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    content = json.loads((tmp_path / "index.json").read_text())

    def write(change):
        for row in content["kernels"]:
            change(row)
        (tmp_path / "index.json").write_text(json.dumps(content))
        return tmp_path

    return write


CALL = """
import torch, modewise
ops = torch.ops.modewise
refusal = ops.use_compiled_kernels({folder!r}, {driver!r}, "CPU")
print(refusal)
library = torch.library.Library("modewise", "IMPL")
if {trusted} and not refusal:
    library.impl("check_kernels", lambda op, like: True, "CPU", allow_override=True)
x = torch.randn(5, 2, 31, 2, 64, dtype=torch.bfloat16).transpose(1, 2)
q, k, v = (x[i].transpose(0, 1) for i in range(3))
{change}
out = ops.dot_product_attention(q, k, v, None, {causal}, 0.25)
print(ops.last_kernel("dot_product_attention"))
print(*(hex(t.data_ptr()) for t in (q, k, v, q, out)))
print(*q.stride(), *k.stride(), *v.stride(), *out.stride())
"""


def call(folder, change="", driver=DRIVER, causal=True, gpu="90", trusted=True):
    """Calls the operator: its output, and the launches of the stand-in."""
    log = folder.parent / "launches"
    log.unlink(missing_ok=True)
    done = run_script(CALL.format(folder=str(folder), driver=driver, change=change, causal=causal, trusted=trusted), STAND_IN_CUDA_LOG=str(log), STAND_IN_CUDA_GPU=gpu)
    return done, log.read_text().splitlines() if log.exists() else []


def test_the_files_hold_the_same_bytes_and_no_folder(kernels, tmp_path):
    again = compile_kernels(tmp_path)
    files = sorted(file.name for file in kernels.iterdir())
    assert sum(name.endswith(".cubin") for name in files) == 3 and sum(name.endswith(".ptx") for name in files) == 1
    assert files == sorted(file.name for file in again.iterdir())
    for name in files:
        content = (kernels / name).read_bytes()
        assert content == (again / name).read_bytes()
        assert str(ROOT).encode() not in content and b"short_attention.py" not in content and os.fsencode(tmp_path.parent) not in content


def test_the_kernel_gets_pointers_strides_sizes_and_numbers(kernels):
    done, launches = call(kernels)
    assert done.returncode == 0, done.stderr
    refusal, kernel, pointers, strides = done.stdout.splitlines()
    assert (refusal, kernel, len(launches)) == ("", "triton", 1)
    q, k, v, out = (row[:3] for row in zip(*[iter(strides.split())] * 4))
    wanted = [(8, int(pointer, 16)) for pointer in pointers.split()]
    wanted += [(8, int(value)) for row in (q, k, v) for value in row]
    mask_strides = strides.split()[:4]  # of q, which stands for no mask
    wanted += [(8, int(mask_strides[i])) for i in range(4)] + [(8, int(value)) for value in out]
    wanted += [(4, value) for value in (2, 1, 1, 31, 31)] + [(4, struct.unpack("<I", struct.pack("<f", 0.25))[0])] + [(8, 0), (8, 0)]
    name, programs, *arguments = launches[0].split()
    assert (name, int(programs, 16)) == ("short_attention", 4)
    got = [tuple(int(part, base) for part, base in zip(argument.split(":"), (10, 16))) for argument in arguments]
    assert [size for size, _ in got] == [size for size, _ in wanted]
    assert got == wanted


@pytest.mark.parametrize("change, causal, gpu", [
    ("q = q.float(); k = k.float(); v = v.float()", True, "90"),  # no such type
    ("", False, "90"),  # no such constant
    ("q = torch.randn(2, 31, 3, 72).bfloat16()[..., 3:67]; k = v = q", True, "90"),  # pointers and strides are not multiples of 16
    ("q = k = v = torch.randn(2, 31, 3, 56).bfloat16()", True, "90"),  # other widths
    ("", True, "120"),  # a PTX, which the stand-in does not load
])  # fmt: skip
def test_another_kernel_runs_where_none_was_compiled(kernels, change, causal, gpu):
    done, launches = call(kernels, change, causal=causal, gpu=gpu)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["", "blocks"] and not launches


def test_kernels_that_compute_something_else_are_not_used(kernels):
    done, launches = call(kernels, trusted=False)
    assert done.stdout.splitlines()[:2] == ["", "blocks"] and len(launches) == 1  # that of the comparison
    assert "the compiled kernels of dot_product_attention are not used on cpu: they differ from the reference" in done.stderr


def test_a_gpu_of_the_same_generation_takes_the_cubin_of_sm_80(kernels):
    done, launches = call(kernels, gpu="89")
    assert done.returncode == 0 and done.stdout.splitlines()[1] == "triton" and len(launches) == 1, done.stderr


def test_without_driver_or_kernels_the_reason_is_given(kernels, tmp_path):
    done, _ = call(kernels, driver="libno_such_driver.so.1")
    assert done.stdout.splitlines()[:2] == ["there is no CUDA driver", "blocks"]
    done, _ = call(tmp_path)
    assert done.stdout.splitlines()[:2] == [f"there are no kernels in {tmp_path}", "blocks"]
    (tmp_path / "index.json").write_text("{")
    done, _ = call(tmp_path)
    assert done.stdout.startswith(f"{tmp_path}/index.json") and done.stdout.splitlines()[1] == "blocks"


def images(change):
    return lambda row: [change(image) for image in row["images"].values()]


@pytest.mark.parametrize("change, error", [
    (images(lambda image: image.update(threads=256)), "threads: got 256"),
    (images(lambda image: image.update(shared=49152 + 16, threads=64)), "threads: got 64"),
    (lambda row: row.update(parameters=row["parameters"][:-1]), ""),
    (lambda row: row.update(parameters=[*row["parameters"], "fp32"]), ""),
    (images(lambda image: image.update(symbol="short")), ""),
    (images(lambda image: image.update(shared=300_000)), ""),
])  # fmt: skip
def test_a_wrong_index_starts_no_kernel(index, change, error):
    done, launches = call(index(change))
    assert not launches
    if error:
        assert done.returncode != 0 and error in done.stderr
    else:
        assert done.returncode == 0 and done.stdout.splitlines()[1] == "blocks"
