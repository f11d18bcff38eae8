"""A small float32 training of each task ends with the same bytes under the loops and libraries of a CPU with AVX-512 and
under those of one without it. The environment stands for the other CPU; tests/equal_bits.py asks a real one."""

import os
import subprocess
import sys

import pytest

from cli_helpers import PROGRAM, ROOT, modewise, ok
from modewise.ops import kernels

sys.path.insert(0, str(ROOT / "tests"))
from equal_bits import TRAININGS, trained_hash, write_inputs

pytestmark = pytest.mark.skipif("avx512" not in kernels.available_isas(), reason="this CPU has no AVX-512: there is nothing to compare AVX2 with")
PLAIN = {"MODEWISE_ISA": ""}  # the default
OLDER = {"MODEWISE_ISA": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
         "MKL_CBWR": "COMPATIBLE", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD"}  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_has_the_same_bytes(name, inputs, tmp_path):
    hashes = [trained_hash(PROGRAM, name, inputs, tmp_path / place, OMP_NUM_THREADS="1", **environment)
              for place, environment in (("plain", PLAIN), ("older", OLDER))]
    assert hashes[0] == hashes[1]


def test_weights_depend_on_what_the_promise_leaves_out(inputs, tmp_path):
    """Without fused multiply-adds sums are others: the hash sees a last digit."""
    hashes = [trained_hash(PROGRAM, "forecast-hot", inputs, tmp_path / isa, OMP_NUM_THREADS="1", MODEWISE_ISA=isa) for isa in ("avx2", "scalar")]
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("environment, sentence", [
    ({}, "float32 training is bitwise reproducible on every x86-64 CPU with AVX2 and FMA"),
    ({"ATEN_CPU_CAPABILITY": "avx512"}, "float32 training may differ on another CPU: libtorch runs its kernels for AVX512, "
                                        "not for AVX2 (set ATEN_CPU_CAPABILITY before the first one runs)"),
    ({"MODEWISE_ISA": "scalar"}, "float32 training is bitwise reproducible only with these loops: they have no fused multiply-adds"),
])  # fmt: skip
def test_info_says_what_is_promised(environment, sentence):
    assert sentence in ok("info", env={"ATEN_CPU_CAPABILITY": "avx2", **environment}).stdout.splitlines()
    assert f'"bits": "{sentence}"' in modewise("info", "--json", env={"ATEN_CPU_CAPABILITY": "avx2", **environment}).stdout


def test_a_fork_of_the_program_has_the_kernels_of_a_start():
    started = subprocess.run([PROGRAM, "info"], capture_output=True, text=True, check=True, env={**os.environ})
    assert ok("info").stdout == started.stdout
