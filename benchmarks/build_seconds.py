"""CPU seconds of compiling each layer: runs every command of compile_commands.json again, without the cache.

  benchmarks/build_seconds.py build                      # what ./dev test compiles
  benchmarks/build_seconds.py build --only modewise cli  # what ./dev demo compiles
  benchmarks/build_seconds.py build --json before.json   # for a comparison: --before before.json
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compiler_arguments(command: str) -> list[str]:
    """The command without ccache in front of it."""
    words = shlex.split(command)
    start = next(i for i, word in enumerate(words) if pathlib.Path(word).name in ("c++", "g++", "clang++"))
    return words[start:]


def layer_of(entry: dict[str, str]) -> str:
    """"modewise/nn", "tests/nn", "cli": the folder of the target that has this object."""
    return os.path.relpath(os.path.join(entry["directory"], entry["output"]), entry["directory"]).split("/CMakeFiles/")[0]


def cpu_seconds(entry: dict[str, str], folder: str) -> tuple[str, str, float]:
    """Compiles one file to a temporary object: (layer, file, seconds of user and system time)."""
    words = compiler_arguments(entry["command"])
    place = words.index("-o") + 1
    name = words[place]
    words[place] = os.path.join(folder, name.replace("/", "_"))
    process = subprocess.Popen(words, cwd=entry["directory"], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"cannot compile {name}: {shlex.join(words)}")
    pathlib.Path(words[place]).unlink(missing_ok=True)
    return layer_of(entry), name.split("/CMakeFiles/")[1], usage.ru_utime + usage.ru_stime


def table(seconds: dict[str, float], before: dict[str, float]) -> str:
    rows = [(layer, seconds.get(layer, 0.0), before.get(layer, 0.0)) for layer in sorted({*seconds, *before})]
    rows.append(("all", sum(seconds.values()), sum(before.values())))
    lines = [f"{'layer':24}{'CPU s':>9}" + (f"{'before':>9}{'ratio':>8}" if before else "")]
    for layer, now, then in rows:
        ratio = f"{then:9.0f}{now / then if then else float('nan'):8.2f}" if before else ""
        lines.append(f"{layer:24}{now:9.0f}{ratio}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder, configured as ./dev does")
    parser.add_argument("--only", nargs="*", default=[], help="layers that begin with these names, such as modewise cli")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: cores)")
    parser.add_argument("--json", type=pathlib.Path, help="write the seconds of each layer to this file")
    parser.add_argument("--before", type=pathlib.Path, help="file of --json to compare with")
    parser.add_argument("--slowest", type=int, default=10, help="number of slowest files to list (default 10)")
    options = parser.parse_args()
    entries = json.loads((options.build / "compile_commands.json").read_text())
    chosen = [
        entry
        for entry in entries
        if "-o" in shlex.split(entry["command"])
        and (not options.only or layer_of(entry).startswith(tuple(options.only)))
    ]
    # Precompiled headers are compiled first: other files read them.
    chosen.sort(key=lambda entry: "cmake_pch" not in entry["output"])
    seconds: dict[str, float] = {}
    files = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for layer, name, used in pool.map(lambda entry: cpu_seconds(entry, folder), chosen):
            seconds[layer] = seconds.get(layer, 0.0) + used
            files.append((used, layer, name))
    before = json.loads(options.before.read_text()) if options.before else {}
    print(table(seconds, before))
    print()
    for used, layer, name in sorted(files, reverse=True)[: options.slowest]:
        print(f"{used:8.1f}  {layer}  {name}")
    if options.json:
        options.json.write_text(json.dumps(seconds, indent=1))


if __name__ == "__main__":
    main()
