#!/usr/bin/env python3
r"""Regression check: do two builds of the program give the same results, byte for byte?

    tests/same_results.py record FOLDER --program build/bin/modewise
    tests/same_results.py compare BEFORE AFTER [--renames TABLE.toml]

`record` runs COMMANDS, in order, on small inputs that it generates and, if present, on files of $MODEWISE_DATA.
FOLDER gets a folder for each command: its exit status, stdout, stderr and every file that it wrote. `compare` masks the patterns
of VOLATILE only, prints a line for each difference and exits with 1 if there is one. Both recordings must be
made on one machine with one build of libtorch: between CPUs results differ by rounding. A recording takes two to three
minutes of one core; the commands have one thread unless OMP_NUM_THREADS is set.

If names changed between the two builds, TABLE.toml lists the renames, which are applied to BEFORE. Commands
are compared by their number, so both recordings must run the same ones in the same order, each in the words of its checkout.

    parsed = '/config\.toml$|\.jsonl?$'  # TOML and JSON whose order, layout and comments do not count: compared as sorted
                                         # lines `model.layers = 2`
    [[rename]]                           # in every text and path of BEFORE, in this order
    pattern = '\bscans\b'
    replace = 'volumes'
    [[key]]                              # in the lines of BEFORE's parsed files
    files = '/config\.toml$'             # paths; [[rename]] and [[mask]] may have it too
    pattern = '(?m)^model\.depth = '
    replace = 'model.layers = '
    [[mask]]                             # in both recordings, as VOLATILE: what must differ, such as the hash of a renamed config
    pattern = '("identity": ")\w+'
    replace = '\1~'

Binary files are compared as they are.

Run it with the tests' .venv/bin/python. COMMANDS and VOLATILE are in same_results_commands.py.
"""

import argparse
import collections
import contextlib
import gzip
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile

import numpy as np
import rasterio
import sentencepiece

from same_results_commands import COMMANDS, SETTINGS, VOLATILE

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from cli_helpers import write_csv  # noqa: E402
from test_volume_classification import nifti, volumes  # noqa: E402
from test_generate import small_folder  # noqa: E402
from test_segmentation import write_scene  # noqa: E402
from test_series_classification import write_ts  # noqa: E402

BINARY = {".bin", ".gz", ".model", ".npy", ".npz", ".png", ".safetensors", ".tif"}


def commands():
    """(arguments, file for stdin, whether it must fail, whether it needs real data) of each line of COMMANDS."""
    for line in re.sub(r"\\\n *", "", COMMANDS).splitlines():
        if not line or line.startswith("#"):
            continue
        names, template = line[4:].split(": ", 1) if line.startswith("for ") else ("", line)
        for name in names.split() or [""]:
            text, _, stdin = template.replace("*", name.replace("+", " ")).format_map(SETTINGS).partition(" < ")
            mark = text[0] if text[0] in "!?" else ""
            words = shlex.split(text.removeprefix(mark))
            arguments = [part for word in words for part in (["--set", word] if re.match(r"[a-z]+\.[a-z_.]+=", word) else [word])]
            yield arguments, stdin or os.devnull, mark == "!", mark == "?"


def write_lines(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def write_npz(path, **arrays):
    """numpy.savez without time stamps, which would change the hash of the data."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            np.save(member := io.BytesIO(), array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())


def write_inputs(folder):
    """All files that COMMANDS names, with the same bytes at each call."""
    for name in ("stations", "scans", "tiles", "masks", "ramps", "SST-2", "STS-B"):
        (folder / name).mkdir(parents=True)
    rng = np.random.default_rng(1)

    def gaps(lines):
        lines[30:33] = [line.replace(",", ",,", 1).rsplit(",", 1)[0] for line in lines[30:33]]

    def turned(lines):
        lines[1:] = [",".join(cells[:1] + cells[:0:-1]) for cells in (line.split(",") for line in lines[1:])]

    write_csv(folder / "series.csv", edit=gaps)
    write_csv(folder / "newer.csv", rows=440, edit=gaps)
    write_csv(folder / "stations" / "north.csv", rows=300)
    write_csv(folder / "stations" / "south.csv", rows=300, edit=turned)
    write_lines(folder / "ragged.csv", "date,a", "2020-01-01,1", "2020-01-02,2,3")
    waves = np.sin(np.arange(300)[:, None] * np.pi / 12 + np.arange(6)) + rng.normal(0, 0.2, (300, 6))
    np.savetxt(folder / "numbers.txt", waves, fmt="%.5f", delimiter=",")
    np.save(folder / "grid.npy", waves.reshape(300, 3, 2).astype("f4"))

    parts = {f"{part}_{what}": values for i, (part, count) in enumerate({"train": 48, "val": 16, "test": 20}.items())
             for what, values in zip(("images", "labels"), volumes(count, i))}
    write_npz(folder / "boxes.npz", **parts)
    np.savetxt(folder / "scores.csv", np.stack([np.arange(20), shares := rng.random(20), 1 - shares], 1), fmt="%.6f", delimiter=",")
    for i in range(30):
        values = rng.normal(size=(8, 8, 6 + 2 * (i % 3 > 0)))
        values[4 * (i % 2):4 * (i % 2) + 3] += 2
        values[:, :, 2] += np.nan if i % 5 == 0 else 0  # a missing slice
        (folder / "scans" / f"scan{i}.nii.gz").write_bytes(gzip.compress(nifti(values), mtime=0))
    kinds = 18 * ["train"] + 6 * ["validation"] + 6 * ["test"]
    write_lines(folder / "scans" / "labels.csv", "file,label,split",
                *(f"scan{i}.nii.gz,{'ab'[i % 2]},{kind}" for i, kind in enumerate(kinds)))

    image, mask = (rasterio.open(path).read() for path in write_scene(folder, nodata=0))
    np.save(folder / "dates.npy", np.stack([image, np.roll(image, 1, 0)]).transpose(0, 2, 3, 1)[:, :80, :80])
    np.save(folder / "dates_mask.npy", mask[0, :80, :80])
    for i in range(8):
        for kind, path in zip(("tiles", "masks"), write_scene(folder, name=str(i), side=16 + 8 * (i % 3), bands=3)):
            path.rename(folder / kind / f"{i}.tif")

    words = "a rope of sand and seven ships went over the hill because it was late".split()
    for name, count in (("story.txt", 3000), ("held.txt", 200)):
        (folder / name).write_text("".join(rng.choice(words) + rng.choice([" ", " ", ".\n"]) for _ in range(count)))
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=(folder / "story.txt").open(), model_writer=(pieces := io.BytesIO()),
                                             vocab_size=34, num_threads=1, minloglevel=2)
    (folder / "pieces.model").write_bytes(pieces.getvalue())
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that map to themselves in byte-level BPE
    letters, merges = [*map(chr, shown), *map(chr, range(256, 512 - len(shown)))], [["t", "h"], ["th", "e"], ["\u0120", "the"]]
    model = {"type": "BPE", "vocab": {t: i for i, t in enumerate([*letters, *map("".join, merges)])}, "merges": merges}
    (folder / "vocabulary.json").write_text(json.dumps({
        "model": model, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "decoder": {"type": "ByteLevel"}, "added_tokens": []}))
    write_lines(folder / "numbers.ids", "83 256 257 1")
    small_folder(folder / "model")
    write_lines(folder / "questions.jsonl", *(json.dumps({"text": f"{word} of", "options": ["sand", "ships"], "right": i % 2})
                                              for i, word in enumerate(words)))
    asked = ['data = "questions.jsonl"', 'context = "{text}"']
    write_lines(folder / "choose.toml", *asked, 'kind = "choice"', 'choices = ["{options}"]', 'answer = "{right}"',
                'answer_kind = "number"')
    write_lines(folder / "say.toml", *asked, 'kind = "generate"', 'answers = ["{options}"]', 'metric = "qa_f1"', "new_tokens = 4")

    for name, count in (("train", 40), ("dev", 12)):
        said = [" ".join([*rng.choice(words, 3), "good" if i % 2 else "bad"]) for i in range(count)]
        write_lines(folder / "SST-2" / f"{name}.tsv", "sentence\tlabel", *(f"{one}\t{i % 2}" for i, one in enumerate(said)))
        write_lines(folder / "STS-B" / f"{name}.tsv", "index\tsentence1\tsentence2\tscore",
                    *(f"{i}\t{one}\t{said[0]}\t{i % 6}.5" for i, one in enumerate(said)))
    write_lines(folder / "asked.txt", "a good rope", "seven bad ships")

    write_ts(folder / "ramps" / "R_TRAIN.ts", 30, 1)
    write_ts(folder / "ramps" / "R_TEST.ts", 16, 2)
    write_ts(folder / "new.ts", 5, 3, labelled=False)

    weights = np.exp(2 * rng.normal(size=(3, 24, 24)))
    weights /= weights.sum(-1, keepdims=True)
    np.save(folder / "matrix.npy", weights[0])
    write_npz(folder / "matrices.npz", first=weights[1:], second=weights[0])
    write_lines(folder / "given.toml", "[train]", "epochs = 7", "batch_size = 17")
    write_lines(folder / "wrong.toml", "[train]", "", "epoch = 3")
    settings = " ".join(SETTINGS[name] for name in ("windows", "tiny", "patches", "sweep")).replace("=", " = ")
    write_lines(folder / "grid.toml", 'task = "forecasting"', 'data = "series.csv"', "seeds = [1]", "[settings]",
                *re.findall(r"\S+ = \S+", settings.replace("model.heads = 2", "")),
                "[[axis]]", 'name = "heads"', 'key = "model.heads"', "values = [1, 2]")


def state_of(folder):
    """Size, time and inode of each file below the folder, which change if it is written again."""
    paths = (pathlib.Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}


def record(folder, program):
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"same_results: {folder} is not empty")
    program, work = program.resolve(strict=True), folder.resolve() / "work"
    work = work.with_name(work.name.ljust(150 - len(str(work)), "_"))  # paths of equal length in all recordings
    data = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data"))
    write_inputs(work)
    shutil.copytree(work, folder / "000-inputs" / "files")
    (work / "real").symlink_to(data)
    (folder / "recording.json").write_text(json.dumps({"PROGRAM": str(program), "FOLDER": str(work)}))
    began, after, surprises = time.monotonic(), state_of(work), 0
    for number, (arguments, stdin, must_fail, needs_data) in enumerate(commands(), 1):
        if needs_data and not data.is_dir():
            continue
        place = folder / "-".join([f"{number:03}", *itertools.takewhile(str.isalpha, arguments[:3])])
        with open(work / stdin, "rb") as given:
            start = time.monotonic()
            done = subprocess.run(["modewise", *arguments], executable=program, cwd=work, stdin=given, capture_output=True,
                                  env={"OMP_NUM_THREADS": "1", **os.environ})
            seconds = time.monotonic() - start
        before, after = after, state_of(work)
        for path in (path for path in after if after[path] != before.get(path)):
            (place / "files" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(work / path, place / "files" / path)
        write_lines(place / "command", shlex.join(arguments), *(f"removes {path}" for path in sorted(before.keys() - after.keys())))
        write_lines(place / "status", done.returncode)
        (place / "stdout").write_bytes(done.stdout)
        (place / "stderr").write_bytes(done.stderr)
        print(f"{place.name} {seconds:.1f} s {done.returncode} {shlex.join(arguments)[:100]}")
        if (done.returncode != 0) != must_fail:
            surprises += 1
            print(f"{place.name} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}", file=sys.stderr)
    shutil.rmtree(work)
    print(f"{number} commands in {time.monotonic() - began:.0f} s; {surprises} ended as they should not")


class Table:
    """Rules of --renames, as VOLATILE has them, and the pattern of the files that are parsed."""

    def __init__(self, file=None):
        data = tomllib.loads(file.read_text()) if file else {}
        if unknown := data.keys() - {"parsed", "rename", "key", "mask"}:
            sys.exit(f"same_results: {file}: unknown: {', '.join(sorted(unknown))}")
        self.parsed = data.get("parsed", r"(?!)")
        self.renames, self.keys, masks = (
            [(one.get("files", ""), one["pattern"], one["replace"], f"{kind} {one['pattern']}") for one in data.get(kind, [])]
            for kind in ("rename", "key", "mask"))
        self.masks = [*VOLATILE, *masks]
        self.used = collections.Counter({reason: 0 for *_, reason in [*self.renames, *self.keys, *self.masks]})

    def apply(self, rules, path, text):
        for files, pattern, instead, reason in rules:
            if re.search(files, path):
                text, count = re.subn(pattern, instead, text)
                self.used[reason] += count
        return text

    def text(self, path, text, is_before):
        text = self.apply(self.renames if is_before else [], path, text)
        text = self.apply(self.masks, path, text)
        if re.search(self.parsed, path) and (lines := parsed(text)):
            text = self.apply(self.keys if is_before else [], path, "\n".join(lines))
            return "\n".join(sorted(text.split("\n")))
        return text


def parsed(text):
    """TOML, JSON or JSON lines as lines `key.key = value`; None for other texts."""
    for parse in (tomllib.loads, json.loads, lambda text: [json.loads(line) for line in text.splitlines()]):
        with contextlib.suppress(ValueError):
            if value := parse(text):
                return list(flat(value))
    return []


def flat(value, key=""):
    """A list without objects is a value."""
    if isinstance(value, dict) and value:
        items = value.items()
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        items = ((f"{i:03}", one) for i, one in enumerate(value))
    else:
        yield f"{key} = {json.dumps(value, default=str)}"
        return
    for name, one in items:
        yield from flat(one, f"{key}.{name}" if key else name)


def contents(folder, table, is_before):
    """(path, masked content) of each file of a recording, by its path without the name of the command, which may differ."""
    names, found = json.loads((folder / "recording.json").read_text()), {}
    for path in sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.name != "recording.json"):
        content = (folder / path).read_bytes()
        for name, text in names.items():
            content = content.replace(text.encode(), name.encode())
        path = table.apply(table.renames, path, path) if is_before else path
        if pathlib.Path(path).suffix not in BINARY:
            text = table.text(path, content.decode(errors="surrogateescape"), is_before)
            content = text.encode(errors="surrogateescape")
        key = re.sub(r"^(\d+)[^/]*", r"\1", path)
        if key in found:
            sys.exit(f"same_results: two files of {folder} are {path} once renamed")
        found[key] = path, content
    return found


def first_difference(path, one, other):
    """The position of the first difference of two contents, and both texts from there on."""
    if path.endswith(".npz") and zipfile.is_zipfile(io.BytesIO(one)) and zipfile.is_zipfile(io.BytesIO(other)):
        members = [{name: archive.read(name) for name in archive.namelist()}
                   for archive in (zipfile.ZipFile(io.BytesIO(content)) for content in (one, other))]
        for name in members[0].keys() | members[1].keys():
            a, b = (one_side.get(name, b"") for one_side in members)
            if a != b:
                return f"[{name}]" + first_difference(name, a, b)
    if pathlib.Path(path).suffix in BINARY:
        at = len(os.path.commonprefix([one, other]))
        return f": byte {at} of {len(one)} and {len(other)}: {one[at:at + 8].hex(' ')} | {other[at:at + 8].hex(' ')}"
    for number, (a, b) in enumerate(itertools.zip_longest(one.splitlines(), other.splitlines(), fillvalue=b""), 1):
        if a != b:
            cut = slice(at := max(0, len(os.path.commonprefix([a, b])) - 40), at + 120)
            return f":{number}: {a[cut].decode(errors='replace')} | {b[cut].decode(errors='replace')}"
    return ": other ends of lines"


def compare(before, after, table):
    one, other = contents(before, table, True), contents(after, table, False)
    differences = 0
    for key in sorted(one.keys() | other.keys()):
        (old, a), (new, b) = (files.get(key, (None, None)) for files in (one, other))
        if a != b:
            differences += 1
            missing = before if old is None else after
            print(f"{new or old} is not in {missing}" if a is None or b is None else new + first_difference(new, a, b))
    for reason, count in table.used.items():
        print(f"replaced {count:5} times: {reason}")
    count = sum(key.endswith("/command") for key in one)
    size = sum(len(content) for _, content in one.values())
    print(f"{count} commands, {len(one)} files, {size:,} bytes: {differences} differences")
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record", help="run all commands and keep what they write")
    recording.add_argument("folder", type=pathlib.Path)
    recording.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/modewise", help="(build/bin/modewise)")
    comparison = verbs.add_parser("compare", help="two recordings, byte for byte")
    comparison.add_argument("before", type=pathlib.Path)
    comparison.add_argument("after", type=pathlib.Path)
    comparison.add_argument("--renames", type=pathlib.Path, metavar="TABLE", help="TOML file that says which names changed")
    options = parser.parse_args()
    if options.verb == "record":
        record(options.folder, options.program)
    else:
        sys.exit(1 if compare(options.before, options.after, Table(options.renames)) else 0)


if __name__ == "__main__":
    main()
