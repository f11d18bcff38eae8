"""Tests that may be skipped, each with the machines on which it may. Any other skip is a failure: a missing program, package or
data set must not disable tests unnoticed. tests/run_shard.py reads the table for the C++ tests, tests/python/skip_rule.py for the
Python tests.
"""

import fnmatch
import functools
import importlib.metadata
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data"))


@functools.cache
def cpu_flags():
    """The instruction sets of this CPU, read from the kernel, because the code under test may be wrong about them."""
    lines = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")]
    return frozenset(lines[0].split(":")[1].split()) if lines else frozenset()


def no_flag(flag):
    return lambda: flag not in cpu_flags()


def no_data(name):
    return lambda: not (DATA / name).exists()


def no_cases():
    return not pathlib.Path(os.environ.get("MODEWISE_CASES", ROOT.parent / "shared" / "cases")).is_dir()


def no_wheel():
    return not list((pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "wheel").glob("modewise-*.whl"))


@functools.cache
def no_tracing():
    """strace is installed (by `./dev test`), but some containers forbid tracing."""
    return shutil.which("strace") is not None and subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode != 0


def no_devices():
    """Only root may create a device, and not in every container or file system."""
    with tempfile.TemporaryDirectory() as folder:
        device = pathlib.Path(folder) / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            device.open("w").close()
        except OSError:
            return True
    return False


def no_peak_reset():
    """Linux resets a process's peak memory if 5 is written to this file, which some kernels and containers lack."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return True
    return False


def other_triton():
    """`dev` installs this version; a Python of MODEWISE_PYTHON may have none, or that of its CUDA torch."""
    try:
        return importlib.metadata.version("triton") != "3.9.0"
    except importlib.metadata.PackageNotFoundError:
        return True


def on_gpu():
    """./dev gpu runs the tests of devices on a GPU, not on the guarded device."""
    return os.environ.get("MODEWISE_TEST_DEVICE") == "cuda"


def sanitized():
    """The build has sanitizers or coverage: it is too slow for the largest inputs."""
    cache = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.exists() else []
    settings = dict(line.split("=", 1) for line in lines if re.match(r"\w+:\w+=", line))
    return (settings.get("MODEWISE_SANITIZE:STRING", "OFF") not in ("", "OFF") or settings.get("MODEWISE_COVERAGE:BOOL") == "ON" or
            settings.get("CMAKE_BUILD_TYPE:STRING") == "Debug")  # fmt: skip


# Test (* stands for any text), machines on which it may be skipped, and whether this machine is one of them. C++ tests are
# named folder.Suite.Test, Python tests file::test[parameters].
ALLOWED = [
    ("test_equal_bits.py::*", "no AVX-512", no_flag("avx512f")),
    ("test_ops_equal.py::*", "no AVX-512", no_flag("avx512f")),
    ("test_run_folder.py::test_a_resume_says_*avx512*", "no AVX-512", no_flag("avx512f")),
    ("test_run_folder.py::test_a_resume_says_*avx512bf16*", "no AVX-512 with bf16", no_flag("avx512_bf16")),
    ("test_run_folder.py::test_a_resume_says_*amx*", "no AMX with bf16", no_flag("amx_bf16")),

    ("test_outputs.py::*", "strace may not trace", no_tracing),
    ("test_run_folder.py::*", "strace may not trace", no_tracing),
    ("test_train_crash.py::*", "strace may not trace", no_tracing),
    ("test_auto_kill.py::*", "strace may not trace", no_tracing),
    ("test_faults.py::*", "strace may not trace", no_tracing),
    ("test_lock_faults.py::*", "strace may not trace", no_tracing),
    ("test_outputs.py::test_a_device_stays_one", "devices cannot be made", no_devices),
    ("test_outputs.py::test_results_can_go_to_stdout", "/dev/stdout is no link", lambda: not os.path.islink("/dev/stdout")),
    ("train.SaveMemory.*", "the peak of memory cannot be reset", no_peak_reset),
    ("io.MappedFileTest.SaysThatItHasNoPermission", "root reads every file", lambda: os.geteuid() == 0),
    ("io.Npz.ReadsALargeArrayOfFewValues", "sanitizers, coverage or no optimisation", sanitized),
    ("test_table_memory.py::*", "sanitizers, coverage or no optimisation", sanitized),

    ("test_device_option.py::*", "a GPU is tested", on_gpu),
    ("on_a_device.py::*", "a GPU is tested", on_gpu),
    ("test_triton.py::*", "no Triton 3.9.0", other_triton),
    ("test_triton_compile.py::*", "no Triton 3.9.0", other_triton),
    ("test_compiled_kernels.py::*", "no Triton 3.9.0", other_triton),
    ("test_wheel.py::test_the_licences_of_all_libraries_are_in_the_wheel", "no wheel was made", no_wheel),
    ("test_cases.py::*", "no folder of cases", no_cases),
    ("test_language_folders.py::test_the_shared_cases", "no folder of cases", no_cases),
    ("test_captioning.py::test_eighty_images_of_coco_are_read", "no data/captions", no_data("captions/train2017")),
    ("test_score.py::test_the_captions_of_coco", "no data/captions", no_data("captions/captions_val2017.json")),
    ("test_cli.py::test_repeat_on_exchange*", "no data/forecasting", no_data("forecasting")),
    ("test_cli.py::test_forecast_of_etth1_continues_its_dates", "no data/forecasting", no_data("forecasting")),
    ("test_image_oracle.py::test_flood_chips*", "no data/multispectral", no_data("multispectral")),
    ("test_image_oracle.py::test_landsat_benchmark_patches", "no data/multispectral", no_data("multispectral")),
    ("test_segmentation.py::test_the_ssl4eo_sample_is_read", "no data/multispectral", no_data("multispectral/ssl4eo_format_sample")),
    ("test_io_oracle.py::test_ts_reads_the_archive_as_plain_python_does", "no data/uea", no_data("uea")),
    ("test_generate.py::*", "no data/language", no_data("language/stories260K.bin")),
    ("test_tokenizers.py::*", "no data/language", no_data("language")),
    ("test_word_piece.py::*", "no data/language", no_data("language")),
    ("io.RealData.BeijingAirWithMissingCells", "no data/order3", no_data("order3/beijing-air")),
    ("io.RealData.*", "no data/forecasting", no_data("forecasting")),
    ("io.NumericText.ReadsTheExchangeRates", "no data/forecasting", no_data("forecasting")),
    ("io.TsFile.ReadsTheArchive", "no data/uea", no_data("uea")),
    ("io.Llama2c.ReadsARealModel", "no data/language", no_data("language/stories260K.bin")),
    ("text.PieceTokenizer.AnswersAsLlama2cDoesWithItsOwnFile", "no data/language", no_data("language/tok512.bin")),
    ("models.LanguageFiles.Stories260K*", "no data/language", no_data("language/stories260K.bin")),
    ("models.TextGeneration.Stories260K*", "no data/language", no_data("language/stories260K.bin")),
    ("data.RealData.BeijingAir*", "no data/order3", no_data("order3/beijing-air")),
    ("data.RealData.Era5IsAGrid", "no data/order3", no_data("order3/era5_t2m_uk_2019-03.npy")),
    ("data.RealData.*", "no data/forecasting", no_data("forecasting")),
    ("data.RealImages.OfCifarAreAllThere", "no data/cifar-10-batches-bin", no_data("cifar-10-batches-bin")),
    ("data.RealScenes.*", "no data/multispectral", no_data("multispectral")),
]  # fmt: skip


def refusal(test, reason):
    """The reason why `test` may not be skipped on this machine; None if it may."""
    if any(fnmatch.fnmatchcase(test, pattern) and here() for pattern, _, here in ALLOWED):
        return None
    return (f"was skipped ({reason}), which tests/allowed_skips.py does not allow on this machine: "
            "build or install what is missing, or add the test and its condition there")
