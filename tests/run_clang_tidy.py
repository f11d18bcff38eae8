#!/usr/bin/env python3
"""Runs clang-tidy on C++ sources with the checks of .clang-tidy. `./dev lint` calls it.

    tests/run_clang_tidy.py [--all | SOURCE ...] [--build FOLDER] [--jobs N] [--program CLANG_TIDY]

checks the sources of the layers without torch, and others that differ from the base commit, unless these are more than MAX_OTHERS. The base
is the merge base with origin/main (without a remote: main); on that commit itself it is the commit before. Outside git nothing differs. For a changed header the source of the same name is checked. --all checks every source.

clang-tidy reads up to TOGETHER sources as one file, since headers take most of its time. If it finds something there, such as two equal
names, it reads each half, down to single sources, whose findings are printed.

Flags come from FOLDER/compile_commands.json. Sources of the layers without torch are checked without it, too. A source that passed is
skipped until it, a header of the project that it includes, its flags, .clang-tidy or the version of clang-tidy changes: FOLDER/lint
holds the hashes.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAYERS = ("core", "io", "text", "metrics", "report")  # without torch
FLAGS = ("-std=c++20 -I. -DFMT_SHARED -DSPDLOG_SHARED_LIB -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL -DTOML_HEADER_ONLY=0 "
         "-DTOML_SHARED_LIB=1").split()  # of these layers, on Debian
MAX_OTHERS = 48
TOGETHER = 16
NOT_FOR_CLANG = {  # clang 14 refuses what GCC compiles
    "modewise/core/amx.cpp": "__builtin_cpu_supports does not know amx-tile",
    "modewise/core/processor_rates.cpp": "inline assembly on 64-byte vectors in a template for several instruction sets",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def git(*arguments):
    """The lines that git prints; none if it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def all_sources():
    found = git("ls-files", "--cached", "--others", "--exclude-standard", "*.cpp")
    if not git("rev-parse", "--show-toplevel"):
        found = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.cpp") if not path.relative_to(ROOT).parts[0].startswith("build")]
    return sorted(path for path in set(found) if (ROOT / path).is_file())


def base_commit():
    """The base commit for changed sources, or None."""
    head = git("rev-parse", "HEAD")
    merged = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main")
    base = merged if merged and merged != head else git("rev-parse", "--verify", "--quiet", "HEAD~1")
    return base[0] if base else None


def changed_sources():
    base = base_commit()
    patterns = ["*.cpp", "*.h"]
    changed = [*(git("diff", "--name-only", base, "--", *patterns) if base else []),
               *git("ls-files", "--others", "--exclude-standard", "--", *patterns)]
    sources = {pathlib.PurePath(path).with_suffix(".cpp").as_posix() for path in changed}
    return sorted(path for path in sources if (ROOT / path).is_file())


def without_torch(source):
    parts = pathlib.PurePath(source).parts
    return parts[0] == "modewise" and parts[1] in LAYERS


def flags_of(command):
    """The flags of a compile command for clang-tidy: without output, warnings, GCC's precompiled headers, and OpenMP,
    whose header clang may lack."""
    words = iter(shlex.split(command)[1:])
    kept = []
    for word in words:
        if word in ("-o", "-c", "-include"):
            next(words)
        elif not (word.startswith("-W") or word == "-fopenmp"):
            kept.append(word)
    return kept


def read_commands(build):
    """source: its flags, from the compile commands of a build; a unity file gives the flags of the sources that it includes."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(entry["file"])
        flags = flags_of(entry["command"])
        names = INCLUDE.findall(unit.read_text()) if unit.parent.name == "Unity" else [unit]
        for name in names:
            path = ROOT / name
            if path.is_relative_to(ROOT):
                commands.setdefault(path.relative_to(ROOT).as_posix(), flags)
    return commands


class Hashes:
    """Hash of a source with everything that affects clang-tidy's result, except system headers."""

    def __init__(self, program):
        self.texts = {}
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.common = version + (ROOT / ".clang-tidy").read_text()

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_text()
        return self.texts[path]

    def of(self, source, flags):
        seen, left = {}, [ROOT / source]
        while left:
            path = left.pop()
            seen[path] = self.text(path)
            left += [ROOT / name for name in INCLUDE.findall(seen[path]) if ROOT / name not in seen and (ROOT / name).is_file()]
        parts = [self.common, *flags, *(f"{path}\n{text}" for path, text in sorted(seen.items()))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def tidy(program, source, flags):
    """clang-tidy's findings in a source; "" if there are none."""
    done = subprocess.run([program, "--quiet", source, "--", *flags], cwd=ROOT, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    return done.stdout or done.stderr or f"{source}: clang-tidy ended with status {done.returncode}\n"


def check(program, sources, flags):
    """(source, findings) of each source with the same flags."""
    if len(sources) == 1:
        return [(sources[0], tidy(program, sources[0], flags))]
    with tempfile.NamedTemporaryFile("w", suffix=".together.cpp") as file:
        file.writelines(f'#include "{source}"  // NOLINT(bugprone-suspicious-include)\n' for source in sources)
        file.flush()
        if not tidy(program, file.name, [*flags, "-I."]):
            return [(source, "") for source in sources]
    middle = len(sources) // 2
    return check(program, sources[:middle], flags) + check(program, sources[middle:], flags)


def groups(jobs):
    """Lists of at most TOGETHER sources with the same flags, of a dictionary source: flags."""
    by_flags = {}
    for source, flags in jobs.items():
        by_flags.setdefault(tuple(flags), []).append(source)
    return [sources[i:i + TOGETHER] for sources in by_flags.values() for i in range(0, len(sources), TOGETHER)]


def named(source):
    path = pathlib.Path(source).resolve()
    if not (path.is_file() and path.is_relative_to(ROOT)):
        sys.exit(f"lint: there is no source {source} in the project")
    return path.relative_to(ROOT).as_posix()


def chosen(options):
    if options.all:
        return all_sources()
    if options.sources:
        return sorted({named(source) for source in options.sources})
    layers = [source for source in all_sources() if without_torch(source)]
    others = [source for source in changed_sources() if not without_torch(source)]
    if len(others) > MAX_OTHERS:
        print(f"{len(others)} changed sources outside the layers without torch are not checked, which would take minutes: "
              "./dev lint SOURCE… checks some, ./dev lint --all all")
        others = []
    return layers + others


def with_flags(sources, build):
    """source: flags, for the sources that can be checked; prints the others."""
    built = (build / "compile_commands.json").is_file()
    commands = read_commands(build) if built else {}
    jobs, unknown = {}, []
    for source in sources:
        if source in NOT_FOR_CLANG:
            continue
        if source in commands:
            jobs[source] = commands[source]
        elif without_torch(source) and '"modewise_version.h"' not in (ROOT / source).read_text():
            jobs[source] = FLAGS
        else:
            unknown.append(source)
    if unknown:
        reason = f"they are not in {build}/compile_commands.json" if built else f"{build}/compile_commands.json is missing: ./dev build makes it"
        print(f"not checked, {reason}: {len(unknown)} sources ({', '.join(unknown[:3])}{', …' if len(unknown) > 3 else ''})")
    return jobs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument("--all", action="store_true", help="every source")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--program", default="clang-tidy")
    options = parser.parse_args()
    jobs = with_flags(chosen(options), options.build)
    hashes, stamps = Hashes(options.program), options.build / "lint"
    stamps.mkdir(parents=True, exist_ok=True)
    wanted = {source: hashes.of(source, flags) for source, flags in jobs.items()}
    stamp = {source: stamps / source.replace("/", "+") for source in jobs}
    left = [source for source in jobs if not (stamp[source].is_file() and stamp[source].read_text() == wanted[source])]
    found = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(check, options.program, sources, jobs[sources[0]])
                   for sources in groups({source: jobs[source] for source in left})]
        for future in concurrent.futures.as_completed(running):
            for source, text in future.result():
                if text:
                    found += 1
                    sys.stdout.write(text)
                    sys.stdout.flush()
                else:
                    stamp[source].write_text(wanted[source])
    print(f"clang-tidy: {len(left)} sources checked, {found} with findings; {len(jobs) - len(left)} unchanged since they passed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
