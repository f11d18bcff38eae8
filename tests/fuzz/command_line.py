#!/usr/bin/env python3
"""Fuzzes the command line: random commands, options and values on good, broken and missing files.

    tests/fuzz/command_line.py --program build/bin/modewise [--count 2000] [--seed 1] [--only N]

Commands, options and keys are read from the program's own --help. A case is a fault if the program ends by a signal, with exit code
70 or with one that docs/commands.md does not list, ignores SIGTERM, prints a raw control character, or changes an input file.
Every fault is printed with the number of its case; --only N runs that case again and prints its output.
"""

import argparse
import hashlib
import os
import pathlib
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile

EXIT_CODES = {0, 1, 2, 65, 66, 73, 74, 75, 78, 128 + signal.SIGTERM}
SECONDS = 20  # until SIGTERM, then again until the case is a fault
NUMBERS = ["0", "1", "2", "-1", "3", "7", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "1e308", "-1e-308",
           "nan", "inf", "0.5", "1.5", "", " 1", "1 ", "+1", "0x10", "1_000", "٣", "1,2", "1e3"]
TEXTS = ["", "a", "auto", "none", "yes", "true", "hot", "dlinear", "full", "bytes", "*", "-", "--", "-1", "a=b", "=HYPERLINK(1)", "'\"`$(x)",
         "\x1b[31mred", "e\u0301\u202eabc", b"\xff\xfe", "x" * 5000, "[1,2", "{", "null", "../..", "/dev/null", "a~b", "a\nb", "%s%n", "[]", "['']"]


def write_files(folder):
    """Writes the inputs: good ones, broken ones, and folders."""
    rows = [f"2024-01-{1 + i // 24:02}T{i % 24:02}:00,{i % 7},{(i * i) % 11 / 4}" for i in range(240)]
    table = "date,a,b\n" + "\n".join(rows) + "\n"
    (folder / "good.csv").write_text(table)
    (folder / "cut.csv").write_text(table[:1000])
    (folder / "quote.csv").write_text(table.replace("b\n", '"b\n', 1))
    (folder / "empty").write_bytes(b"")
    (folder / "junk.bin").write_bytes(bytes(random.Random(7).randrange(256) for _ in range(5000)))
    (folder / "text.txt").write_text("the cat sat on the mat\n" * 200)
    (folder / "lines.jsonl").write_text('{"text": "the cat", "label": "a"}\n' * 40 + '{"text": "a dog", "label": "b"}\n' * 40)
    (folder / "settings.toml").write_text("[train]\nepochs = 1\nmax_steps = 2\n")
    (folder / "broken.toml").write_text("[train\nepochs = = 1\n")
    (folder / "sweep.toml").write_text('task = "forecasting"\n[settings]\ntrain.max_steps = 1\n[[axis]]\nname = "a"\nchoices = [{ name = "x" }]\n')
    (folder / "series.ts").write_text("@problemName p\n@classLabel true a b\n@data\n" + "1,2,3,4:a\n4,3,2,1:b\n" * 8)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (60, 4), }"
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<240f", *[i % 9 for i in range(240)])
    (folder / "array.npy").write_bytes(array)
    with zipfile.ZipFile(folder / "arrays.npz", "w") as archive:
        archive.writestr("x.npy", array)
    (folder / "cut.npz").write_bytes((folder / "arrays.npz").read_bytes()[:-30])
    tables = folder / "tables"
    tables.mkdir()
    for name in ("one.csv", "two.csv"):
        (tables / name).write_text(table)
    (folder / "nothing").mkdir()
    (folder / "run").mkdir()
    (folder / "run" / "config.toml").write_text("[data]\npath = 'good.csv'\n")
    (folder / "run" / "metrics.json").write_text("{}")


def digest(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()}


class Grammar:
    """Commands with their options and keys, as the program's help lists them."""

    def __init__(self, program):
        self.program = program
        self.commands = []
        self.read([])

    def help(self, words):
        return subprocess.run([self.program, *words, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout

    def read(self, words):
        text = self.help(words)
        part = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
        for name in re.findall(r"^  (\S+)", part.group(1), re.M) if part else []:
            self.read([*words, name])
        if words:
            options = re.findall(r"^  (-{1,2}[a-z][^\s]*)( [A-Z]+)?", text, re.M)
            keys = [key for section, body in re.findall(r"^\[([a-z_.0-9]+)\]\n((?:(?!\[).*\n)*)", text, re.M)
                    for key in [f"{section}.{name}" for name in re.findall(r"^([a-z_0-9]+) = ", body, re.M)]]
            self.commands.append((words, options, keys, "Positionals:" in text))

    def case(self, random_, inputs):
        """A random command line, without the program."""
        words, options, keys, positional = random_.choice(self.commands)
        value = lambda: random_.choice(random_.choice((NUMBERS, TEXTS, inputs, inputs)))
        line = list(words)
        if positional and random_.random() < 0.9:
            line.append(value() if random_.random() < 0.3 else random_.choice(inputs))
        if words[0] == "train" and random_.random() < 0.8:
            line += ["--data", random_.choice(inputs), "--set", "train.max_steps=1"]
        for _ in range(random_.choice((0, 1, 1, 2, 3, 5))):
            if keys and random_.random() < 0.5:
                chosen = value()
                line += ["--set", f"{random_.choice(keys)}=".encode() + chosen if isinstance(chosen, bytes) else f"{random_.choice(keys)}={chosen}"]
            elif options:
                names, argument = random_.choice(options)
                line.append(random_.choice(names.split(",")))
                if argument:
                    line.append(value())
        if random_.random() < 0.1:
            line.insert(random_.randrange(len(line) + 1), value())
        return [word if isinstance(word, bytes) else word.replace("\0", "") for word in line]


def run(program, line, folder):
    """Runs one case in `folder`; returns (exit code or None if it ignored SIGTERM, stdout, stderr)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HOME": str(folder)}
    child = subprocess.Popen([program, *line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        try:
            out, err = child.communicate(timeout=SECONDS)
            return child.returncode, out, err
        except subprocess.TimeoutExpired:
            child.send_signal(signal_)
    return None, *child.communicate()


def fault_of(code, err):
    if code is None:
        return "ignores SIGTERM"
    if code not in EXIT_CODES and code != -signal.SIGTERM:
        return f"ends with {code}"
    if re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[0-9;]*[mK])|\xe2\x80\xae", err):
        return "prints a control character"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this case alone and print its output")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    grammar = Grammar(program)
    faults, codes = 0, {}
    for number in [options.only] if options.only is not None else range(options.count):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            write_files(folder)
            before = digest(folder)
            inputs = [*sorted({name.split("/")[0] for name in before} | {"nothing"}), "missing.csv"]
            line = grammar.case(random.Random(options.seed * 1_000_003 + number), inputs)
            code, out, err = run(program, line, folder)
            fault = fault_of(code, err)
            after = digest(folder)
            changed = [name for name in before if after.get(name) != before[name]]
            # A run that resumes or is evaluated may be written, and what --overwrite names; nothing else of what was there.
            if not fault and "--overwrite" not in line and any(not name.startswith("run/") for name in changed):
                fault = f"changed {', '.join(changed)}"
        codes[code] = codes.get(code, 0) + 1
        if options.only is not None:
            sys.stdout.buffer.write(out + err)
        if fault or options.only is not None:
            faults += bool(fault)
            shown = shlex.join(w.decode(errors="backslashreplace") if isinstance(w, bytes) else w[:200] for w in line)
            print(f"case {number}: {fault or f'exit code {code}'}: modewise {shown}\n    {err[-300:]!r}", flush=True)
    print(f"{sum(codes.values())} cases, exit codes {dict(sorted(codes.items(), key=str))}, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
