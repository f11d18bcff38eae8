#!/usr/bin/env python3
"""Mutation testing: changes the library at one place at a time and checks whether its tests fail.

    tests/mutation/mutate.py --seed 1 --count 60

draws mutants (a sign, an off-by-one, a dropped term, swapped arguments ...) from the .cpp files of the layers, from cli/ and
from the Python package, compiles each changed file, and runs the tests of its layer, quickest first, until one fails (the
mutant is killed) or none does (it survived). A hang counts as killed; mutants that do not compile are drawn again. Neither the
sources nor the build folder are touched: a changed C++ file is compiled alone and linked into a second library, which the tests
load instead of the layer's; a changed Python file is tested in a copy of the repository. Each result becomes a line
of the --log file, and a second call with the same log resumes after the first one.

Needs a finished `./dev test`. In its build folder a changed file recompiles its whole unity group; quicker is one with files
compiled one at a time (`cmake --preset release -B build-apart -DMODEWISE_TESTS=ON`, then `--build build-apart`). The changes are
in cpp_mutants.py and python_mutants.py.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mutant import draw

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 300  # seconds of a stage that was not measured, because it depends on the file
MEMORY = 8 << 30  # memory limit of a test in bytes: a mutant that exceeds it is killed


def program(name, only=""):
    """Tests of a program; never the long ones."""
    return ["{build}/bin/" + name, "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={only}-*LONG_*"]


def python(*files, k=None):
    paths = [f"tests/python/{file}.py" for file in files]
    return ["{python}", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *paths, *(["-k", k] if k else [])]


PACKAGE_TESTS = sorted(path.stem for path in (ROOT / "tests" / "python").glob("test_package_*.py"))
# The tests of a layer, quickest first; {focus} and {word} are the subject of the changed file, {users} the Python tests that name
# it or what it defines.
STAGES = {
    "core": [program("core_test", "*{word}*"), program("core_test"), program("train_test"), program("data_test"),
             python("test_cli", "test_outputs", "test_signals")],
    "io": [program("io_test", "*{word}*"), program("io_test"), program("text_test"),
           python("test_io_oracle", "test_image_oracle", "test_png_jpeg_oracle", "test_table_forms", "test_cases")],
    "text": [program("text_test"), python("test_tokenizers"), python("test_word_piece")],
    "ops": [python("test_ops", k="{focus}"), program("ops_test"), python("test_ops_attention", "test_ops_sequence"),
            python("test_ops"), python("test_compiled_kernels")],
    "nn": [program("nn_test"), program("models_test"), python("test_package_models", "test_text_encoders")],
    "models": [program("models_test", "*{word}*"), program("models_test"),
               python("test_package_models", "test_text_encoders", "test_text_files", "test_vit", "test_package_checkpoints"),
               python("test_forecast_baselines", "test_series_classification", "test_language_folders")],
    "data": [program("data_test", "*{word}*"), program("data_test"), program("tasks_test"),
             python("test_panels", "test_panel_covariates", "test_future_covariates", "test_table_forms", "test_labelled_tables", "test_cases")],
    "metrics": [program("metrics_test"), program("tasks_test"), python("test_score"), python("test_seasonal_intervals")],
    "train": [program("train_test"), python("test_train_crash"), python("test_workers", "test_shared_work")],
    "analysis": [program("analysis_test", "*{word}*"), program("analysis_test"), python("test_analysis"),
                 python("test_attention_spectra")],
    "report": [program("report_test"), python("test_report", "test_reproduce")],
    "sweep": [program("sweep_test", "*{word}*"), program("sweep_test"), python("test_sweep_launchers", "test_reproduce"),
              python("test_panel_search", "test_auto")],
    "tasks": [program("tasks_test", "*{word}*"), program("tasks_test"), python("test_cli", "test_forecast_baselines", "test_panels", "test_table_forms"),
              python("test_text_task", "test_image_classification", "test_series_classification", "test_captioning", "test_segmentation",
                     "test_generate", "test_language_modeling", "test_class_ensembles"),
              python("test_future_covariates", "test_panel_covariates", "test_no_test", "test_run_folder", "test_seasonal_intervals")],
    "cli": [python("test_cli", "test_first_command", "test_implied_task", "test_your_folder", "test_first_guesses"),
            python("test_analysis", "test_generate", "test_tokenizers", "test_score", "test_reproduce", "test_sweep_launchers",
                   "test_captioning", "test_package_docs", "test_attention_spectra", "test_auto")],
    # An installation is tested with CMake, and needs the whole build folder.
    "python": [["{python}", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "{users}", "-k", "not installed_layout"],
               python(*PACKAGE_TESTS, "test_sweep_launchers", "test_signals_in_python", k="not installed_layout")],
}  # fmt: skip
PROGRAM = ["modewise", "program_forks", "python_package"]  # for Python tests
TARGETS = {"ops": ["stand_in_cuda"], "io": ["io_dump", "text_test"], "text": ["text_dump"], "nn": ["models_test", "text_model_dump"],
           "models": ["text_model_dump", "vit_dump"], "core": ["train_test", "data_test"],
           "train": ["train_toy"], "metrics": ["tasks_test"], "data": ["tasks_test"]}  # beside PROGRAM and the tests of the layer
FOLDERS = {"cli": ROOT / "cli", "python": ROOT / "python" / "modewise"}  # of the sources; else modewise/LAYER


def folder_of(layer):
    return FOLDERS.get(layer, ROOT / "modewise" / layer)


def sources(layer, only):
    """The files of a layer that can be changed; the Triton kernels have planted bugs of their own (tests/python/triton_mutants.py)."""
    folder = folder_of(layer)
    files = sorted(folder.rglob("*.py" if layer == "python" else "*.cpp"))
    return [file for file in files if file.relative_to(folder).parts[0] != "triton" and fnmatch.fnmatch(str(file.relative_to(ROOT)), only)]


def users(file):
    """The Python tests of the package that name a module of it, or a class or function that it defines; else all of them."""
    source = (ROOT / file).read_text()
    names = [pathlib.Path(file).stem.strip("_"), *re.findall(r"^(?:class|def) ([A-Za-z]\w+)", source, re.M)]
    named = re.compile(rf"\b(?:{'|'.join(names)})\b")
    every = [f"tests/python/{name}.py" for name in PACKAGE_TESTS]
    return [path for path in every if named.search((ROOT / path).read_text())] or every


def subjects(path):
    """The focus of a file such as rms_norm_kernel.cpp: a pytest -k expression, and the prefix of the names of its C++ tests."""
    words = re.sub(r"_(kernel|loops|checks|schema)$", "", pathlib.Path(path).stem).split("_")
    return {"focus": " and ".join(words), "word": words[0].capitalize()}


def included(source):
    """A source's name in a unity file."""
    return f'"{source.relative_to(ROOT)}"'


class Bench:
    """A shadow of a build folder in a temporary folder: the same programs with one library replaced."""

    def __init__(self, build, folder, interpreter):
        self.build, self.folder, self.interpreter = build, folder, interpreter
        self.shadow = folder / "build"
        (self.shadow / "lib").mkdir(parents=True)
        for name in ("bin", "share"):
            (self.shadow / name).symlink_to(build / name)
        for library in (build / "lib").iterdir():
            (self.shadow / "lib" / library.name).symlink_to(library)
        self.commands = json.loads((build / "compile_commands.json").read_text())
        self.copy = folder / "copy"  # of the repository's files, for changes of Python files
        self.headers = {}  # precompiled headers per layer and flags
        self.seconds = {}  # duration of each stage on the unchanged library
        data = next((p for p in (ROOT.parent / "shared" / "data", ROOT / "data") if p.exists()), ROOT / "data")
        self.environment = {"MODEWISE_DATA": str(data), "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive",
                            "MALLOC_PERTURB_": "85", **os.environ,
                            "MODEWISE_BUILD": str(self.shadow), "LD_LIBRARY_PATH": str(self.shadow / "lib"),
                            "CCACHE_DISABLE": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def tree(self, layer):
        """The folder in which the tests of a layer run."""
        if layer != "python":
            return ROOT
        if not self.copy.exists():
            for name in self.output(["git", "-C", ROOT, "ls-files", "-z"]).split("\0")[:-1]:
                (self.copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.copy / name)
        return self.copy

    def library(self, layer):
        return self.shadow / "lib" / f"libmodewise_{layer}.so"

    def compile(self, mutant):
        """Links the layer's library with the changed file, or copies the package with it; False if it does not compile."""
        source, changed = ROOT / mutant.file, self.folder / pathlib.Path(mutant.file).name
        if mutant.layer == "python":
            (self.tree(mutant.layer) / mutant.file).write_text(mutant.apply(source.read_text()))
            return True
        changed.write_text(mutant.apply(source.read_text()))
        link = self.output(["ninja", "-C", self.build, "-t", "commands", "-s", f"lib/libmodewise_{mutant.layer}.so"])
        for number, (command, unit, directory) in enumerate(self.units(source)):
            out, compiled = self.folder / f"{number}.o", changed
            if unit != source:  # a unity file, which includes several sources
                compiled = self.folder / unit.name
                compiled.write_text(unit.read_text().replace(included(source), f'"{changed}"'))
            words = shlex.split(command)
            replaced = words[words.index("-o") + 1]
            words = [str(compiled) if word == str(unit) else str(out) if word == replaced else word for word in words] + ["-w"]
            if self.run(words[:1] + self.header(mutant.layer, words, directory) + words[1:], directory, 600) != 0:
                return False
            link = link.replace(f" {replaced} ", f" {out} ", 1)
        library = self.library(mutant.layer)
        library.unlink()
        link = link.replace(f" -o lib/{library.name} ", f" -o {library} ", 1)
        return self.run(["bash", "-c", link], self.build, 600) == 0

    def header(self, layer, words, directory):
        """Options for a precompiled header of the layer: torch's headers take most of the compile time."""
        flags = [word for before, word in zip([""] + words, words) if "-o" not in (before, word) and "-c" not in (before, word)]
        if any(word.startswith("-DMODEWISE_ISA=") or word.endswith("cmake_pch.hxx") for word in flags):
            return []  # hot loops have few headers; others have one that the build made
        key = layer, *flags
        if key not in self.headers:
            includes = {line for path in sources(layer, "*") for line in re.findall(r"^#include .*", path.read_text(), re.M)}
            header = self.folder / f"header{len(self.headers)}.h"
            header.write_text("\n".join(sorted(includes)))
            done = self.run([*flags[:1], "-x", "c++-header", *flags[1:], header, "-o", f"{header}.gch"], directory, 900)
            self.headers[key] = ["-include", str(header)] if done == 0 else []
        return self.headers[key]

    def restore(self, mutant):
        if mutant.layer == "python":
            shutil.copy2(ROOT / mutant.file, self.copy / mutant.file)
            return
        library = self.library(mutant.layer)
        library.unlink(missing_ok=True)
        library.symlink_to(self.build / "lib" / library.name)

    def units(self, source):
        """(command, compiled file, folder) of each object with the source: more than one for hot loops."""
        own, shared = [], []
        for entry in self.commands:
            unit = pathlib.Path(entry["file"])
            if unit == source:
                own.append((entry["command"], unit, entry["directory"]))
            elif unit.name.startswith("unity_") and included(source) in unit.read_text():
                shared.append((entry["command"], unit, entry["directory"]))
        if not own + shared:
            sys.exit(f"mutate: {source} is not in {self.build}/compile_commands.json")
        return own or shared

    def stages(self, layer, file):
        values = {"build": self.shadow, "python": self.interpreter, **subjects(file)}
        for stage in STAGES[layer]:
            focused = any(name in " ".join(stage) for name in ("{focus}", "{word}", "{users}"))
            yield [part for word in stage for part in (users(file) if word == "{users}" else [word.format(**values)])], focused

    def first_failure(self, mutant):
        """The stage that failed and how, or None if all passed."""
        for command, focused in self.stages(mutant.layer, mutant.file):
            usual = self.seconds.get((mutant.layer, name_of(command)), LONGEST)
            code = self.run(command, self.tree(mutant.layer), 30 + 4 * usual)
            if code != 0 and not (focused and code == 5):  # pytest's 5: no test of that name
                return f"{name_of(command)}, {'too long' if code is None else f'status {code}'}"
        return None

    def measure(self, layer, log):
        """Runs the layer's stages on the unchanged library, once per log: they must pass, and give the usual durations."""
        self.seconds |= {tuple(one["tests"]): one["seconds"] for one in read_log(log) if "tests" in one}
        for command, focused in self.stages(layer, sources(layer, "*")[0]):
            if focused or (layer, name_of(command)) in self.seconds:
                continue
            if command[0] != self.interpreter and str(self.library(layer)) not in self.output(["ldd", command[0]]):
                sys.exit(f"mutate: {command[0]} does not load {self.library(layer)}; was it linked with RPATH?")
            began = time.monotonic()
            if self.run(command, self.tree(layer), 3600, show=True) != 0:
                sys.exit(f"mutate: {' '.join(command)} fails without any change; GTEST_FILTER and PYTEST_ADDOPTS leave tests out")
            seconds = time.monotonic() - began
            self.seconds[layer, name_of(command)] = seconds
            append(log, {"tests": (layer, name_of(command)), "seconds": round(seconds, 1)})
            say(f"{layer}: {name_of(command)} takes {seconds:.0f} s")

    def output(self, command):
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, check=True).stdout

    def run(self, command, directory, limit, show=False):
        """The exit status, None after limit seconds. All processes that the command started end with it."""
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as scratch, \
                open(self.folder / "output", "w+") as output:
            child = subprocess.Popen(command, cwd=directory, env={**self.environment, "TMPDIR": scratch}, stdout=output,
                                     stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit_memory)
            try:
                code = child.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
            if show and code != 0:
                output.seek(0)
                sys.stderr.write(output.read()[-4000:])
            return code


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def name_of(command):
    """The same for all tests of a program or file and for a selection of them."""
    return " ".join(pathlib.Path(word).stem for word in command if "_test" in word or word.startswith("tests/"))


def say(text):
    print(text, file=sys.stderr, flush=True)


def read_log(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path, entry):
    with open(path, "a") as lines:
        lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


def evaluate(bench, mutants, log, count, deadline):
    """The results of the first `count` mutants that compile, as many as fit before the deadline."""
    known, results = {one["mutant"]: one for one in read_log(log) if "mutant" in one}, []
    for mutant in mutants:
        if len(results) == count:
            break
        if mutant.name not in known:
            if time.monotonic() > deadline:
                say("the time is over")
                break
            bench.measure(mutant.layer, log)
            began = time.monotonic()
            by = None
            try:
                compiles = bench.compile(mutant)
                if compiles:
                    by = bench.first_failure(mutant)
            finally:
                bench.restore(mutant)
            result = ("killed" if by else "survived") if compiles else "does not compile"
            known[mutant.name] = {"mutant": mutant.name, "layer": mutant.layer, "verdict": result, "by": by,
                                  "seconds": round(time.monotonic() - began, 1), "change": mutant.change()}
            append(log, known[mutant.name])
            say(f"{len(results) + 1}/{count} {result}{f' by {by}' if by else ''}: {mutant.name}")
        if known[mutant.name]["verdict"] != "does not compile":
            results.append(known[mutant.name])
    return results


def print_table(results):
    drawn = collections.Counter(one["layer"] for one in results)
    killed = collections.Counter(one["layer"] for one in results if one["verdict"] == "killed")
    for one in results:
        if one["verdict"] == "survived":
            print(f"survived: {one['mutant']}\n{one['change']}\n")
    print(f"{'layer':8} {'mutants':>8} {'killed':>8} {'rate':>8}")
    rows = [(layer, drawn[layer], killed[layer]) for layer in drawn] + [("all", drawn.total(), killed.total())]
    for layer, n, k in rows:
        print(f"{layer:8} {n:8} {k:8} {100 * k / max(n, 1):7.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="mutants that compile (60)")
    parser.add_argument("--layers", default=",".join(STAGES), help=f"of {', '.join(STAGES)} (all)")
    parser.add_argument("--only", default="*", metavar="GLOB", help="files such as 'modewise/ops/cpu/*'")
    parser.add_argument("--deadline", type=float, default=float("inf"), metavar="MINUTES", help="begin no mutant after these")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="a configured build folder (build)")
    parser.add_argument("--log", type=pathlib.Path, help="results, a JSON line each (BUILD/mutants-SEED.jsonl)")
    parser.add_argument("--list", action="store_true", help="print the draw and run nothing")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through every `finally`
    deadline = time.monotonic() + 60 * options.deadline
    layers = options.layers.split(",")
    if unknown := set(layers) - set(STAGES):
        parser.error(f"--layers: expected some of {', '.join(STAGES)}, got {', '.join(sorted(unknown))}")
    build = options.build.resolve()
    log = options.log or build / f"mutants-{options.seed}.jsonl"
    files = {layer: sources(layer, options.only) for layer in layers}
    layers = [layer for layer in layers if files[layer]]
    mutants = draw(ROOT, {layer: files[layer] for layer in layers}, options.seed)
    if options.list:
        for _, mutant in zip(range(options.count), mutants):
            print(f"{mutant.name}\n{mutant.change()}\n")
        return
    targets = PROGRAM + [target for layer in layers for target in [f"{layer}_test"] * (layer not in FOLDERS) + TARGETS.get(layer, [])]
    subprocess.run(["ninja", "-C", build, *targets], check=True, stdout=sys.stderr)
    interpreter = next((p for p in (ROOT / ".venv/bin/python",) if p.exists()), sys.executable)
    with tempfile.TemporaryDirectory(prefix="mutate-", ignore_cleanup_errors=True) as folder:
        bench = Bench(build, pathlib.Path(folder), str(interpreter))
        print_table(evaluate(bench, mutants, log, options.count, deadline))


if __name__ == "__main__":
    main()
