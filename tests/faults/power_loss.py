"""Power loss: records the file operations of a command with strace, and makes the folders that a machine may have after it lost power.

The disk keeps what fsync was called for: the bytes of a file until its last fsync, the names in a folder until the last fsync of that
folder. Of everything later it keeps any part: names one by one, of a file all bytes, none, the first ones, or zeros. A rename is one
step, also between two folders; it is kept for certain after an fsync of one of them. That is what POSIX promises, less than what
ext4 and XFS do.
"""

import dataclasses
import hashlib
import os
import random
import re
import shutil

from faults import commands
from faults.bench import Failure, difference, require

NAMES = ("openat", "mkdir", "rename", "renameat2", "link", "unlink", "unlinkat", "rmdir", "write", "pwrite64", "ftruncate", "fallocate",
         "copy_file_range", "sendfile", "lseek", "fsync", "fdatasync", "close")  # fmt: skip
STRACE = ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "1000000000", "-e", f"trace={','.join(NAMES)}", "-e", "signal=none"]
KEEPS = ("nothing", "names", "any", "any", "bytes")  # what is kept of everything that was not synced


class Node:
    """A file, `data`, or a folder, `names`, as the program sees it and as it is on the disk for certain."""

    def __init__(self, is_folder):
        self.is_folder = is_folder
        self.data, self.on_disk, self.unsynced = bytearray(), b"", []
        self.names, self.names_on_disk = {}, {}


@dataclasses.dataclass
class Naming:
    """A change of names that is not on the disk yet: (folder, name, node or None), …"""

    changes: tuple


def _text(escaped):
    return bytes.fromhex(escaped.replace("\\x", ""))


def _path(escaped):
    return os.fsdecode(_text(escaped))


def lines_of(log):
    """(name, arguments, result) of each call in the order in which they ended."""
    begun = {}
    for line in log.splitlines():
        match = re.match(r"(\d+) +(.*)", line)
        if not match:
            continue
        process, rest = match.groups()
        if rest.endswith("<unfinished ...>"):
            begun[process] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", rest):
            rest = begun.pop(process, "") + resumed[1]
        call = re.match(r"(\w+)\((.*)\) += (-?\d+)", rest)
        if call and int(call[3]) >= 0:
            yield call[1], call[2], int(call[3])


class Recording:
    """The operations of a log on files below `out`, as functions that change a Disk."""

    def __init__(self, log, out):
        self.out = str(out)
        self.operations = []  # (text, method of Disk, arguments)
        for name, arguments, result in lines_of(log):
            self.add(name, arguments, result)

    def inside(self, path):
        path = os.path.normpath(path)
        return path[len(self.out) + 1:] if path.startswith(self.out + "/") else "" if path == self.out else None

    def add(self, name, arguments, result):
        paths = [self.inside(os.path.join(_path(folder), _path(entry)))
                 for folder, entry in re.findall(r'AT_FDCWD<([^>]*)>, "([^"]*)"', arguments)]  # fmt: skip
        paths += [self.inside(os.path.join(_path(folder), _path(entry))) for folder, entry in re.findall(r'(?<![\w])\d+<([^>]*)>, "([^"]*)"', arguments)
                  if name == "unlinkat"]  # fmt: skip
        if not paths and name in ("mkdir", "rename", "link", "unlink", "rmdir"):
            paths = [self.inside(_path(path)) for path in re.findall(r'"([^"]*)"', arguments)]
        opened = [self.inside(_path(path)) for path in re.findall(r"\d+<([^>]*)>", arguments)]
        descriptor = int(re.match(r"\d+", arguments)[0]) if re.match(r"\d+<", arguments) else None
        numbers = re.findall(r", (\d+)(?=,|$)", arguments)
        record = lambda path, method, *rest: path is not None and self.operations.append((f"{name} {path}", method, (path, *rest)))
        if name == "openat" and paths and paths[0] is not None:
            record(paths[0], "open", result, "O_CREAT" in arguments, "O_TRUNC" in arguments, "O_APPEND" in arguments)
        elif name == "mkdir":
            record(paths[0], "mkdir")
        elif name in ("rename", "renameat2") and None not in paths:
            record(paths[0], "rename", paths[1])
        elif name in ("unlink", "rmdir", "unlinkat") and paths:
            record(paths[0], "remove")
        elif name == "write" and opened:
            record(opened[0], "write", descriptor, _text(re.search(r'"([^"]*)"', arguments)[1])[:result], None)
        elif name == "pwrite64" and opened:
            record(opened[0], "write", descriptor, _text(re.search(r'"([^"]*)"', arguments)[1])[:result], int(numbers[-1]))
        elif name == "lseek" and opened:
            record(opened[0], "seek", descriptor, result)
        elif name == "ftruncate" and opened:
            record(opened[0], "truncate", int(numbers[-1]))
        elif name in ("copy_file_range", "sendfile") and opened:  # sendfile(to, from), copy_file_range(from, offset, to)
            source, to = opened[::-1] if name == "sendfile" else opened
            fd = [int(one) for one in re.findall(r"(\d+)<", arguments)][0 if name == "sendfile" else 1]
            if to is not None:
                self.operations.append((f"{name} {to}", "copy", (to, fd, source if source is not None else _path(re.findall(r"\d+<([^>]*)>", arguments)[-1]), result)))
        elif name in ("fsync", "fdatasync") and opened:
            record(opened[0], "sync")
        # fallocate changes the size of unnamed scratch files only; close ends nothing that counts here.

    def __len__(self):
        return len(self.operations)

    def crash(self, cut, keep, rng, start=None, ignored=()):
        """The disk after `cut` operations; `ignored`: operations that are left out, as if the program had not made them."""
        disk = Disk(start)
        for number, (_, method, arguments) in enumerate(self.operations[:cut]):
            if number not in ignored:
                getattr(disk, method)(*arguments)
        return disk.lose_power(keep, rng)


class Disk:
    def __init__(self, start=None):
        self.root = Node(True)
        self.namings = []
        self.positions = {}
        if start is not None:
            self._load(self.root, start)

    def _load(self, node, folder):
        for entry in os.scandir(folder):
            child = Node(entry.is_dir())
            node.names[entry.name] = node.names_on_disk[entry.name] = child
            if child.is_folder:
                self._load(child, entry.path)
            else:
                with open(entry.path, "rb") as file:
                    child.data = bytearray(file.read())
                child.on_disk = bytes(child.data)

    def find(self, path):
        node = self.root
        for part in path.split("/") if path else ():
            node = node.names.get(part) if node is not None else None
        return node

    def _place(self, path):
        folder, _, name = path.rpartition("/")
        return self.find(folder), name

    def _name(self, *changes):
        for folder, name, node in changes:
            if node is None:
                folder.names.pop(name, None)
            else:
                folder.names[name] = node
        self.namings.append(Naming(changes))

    def open(self, path, descriptor, creates, truncates, appends):
        node = self.find(path)
        if node is None and creates:
            node = Node(False)
            self._name((*self._place(path), node))
        if node is None or node.is_folder:
            return
        if truncates and node.data:
            self.truncate(path, 0)
        self.positions[descriptor, path] = None if appends else 0

    def mkdir(self, path):
        self._name((*self._place(path), Node(True)))

    def rename(self, path, to):
        node = self.find(path)
        self._name((*self._place(path), None), (*self._place(to), node))

    def remove(self, path):
        self._name((*self._place(path), None))

    def write(self, path, descriptor, data, offset):
        node = self.find(path)
        if node is None:  # written to an unlinked file
            return
        # A file that was renamed, or opened by another process before, is written at its end.
        position = self.positions.get((descriptor, path)) if offset is None else offset
        at = len(node.data) if position is None else position
        _put(node.data, at, data)
        node.unsynced.append((at, bytes(data)))
        if offset is None and position is not None:
            self.positions[descriptor, path] = at + len(data)

    def copy(self, path, descriptor, source, count):
        node = self.find(source)
        content = bytes(node.data) if node is not None else open(source, "rb").read()
        at = self.positions.get((descriptor, path)) or 0
        self.write(path, descriptor, content[at:at + count], None)

    def seek(self, path, descriptor, position):
        if self.positions.get((descriptor, path)) is not None:
            self.positions[descriptor, path] = position

    def truncate(self, path, size):
        node = self.find(path)
        _put(node.data, size, None)
        node.unsynced.append((size, None))

    def sync(self, path):
        node = self.find(path)
        if node is None:
            return
        if not node.is_folder:
            node.on_disk, node.unsynced = bytes(node.data), []
            return
        kept = []
        for naming in self.namings:
            if any(folder is node for folder, _, _ in naming.changes):
                _apply(naming)
            else:
                kept.append(naming)
        self.namings = kept

    def lose_power(self, keep, rng):
        """{path: bytes, None for a folder} of what the disk keeps."""
        for naming in self.namings:
            if keep in ("names", "bytes") or (keep == "any" and rng.random() < 0.5):
                _apply(naming)
        tree = {}

        def walk(folder, prefix):
            for name, node in folder.names_on_disk.items():
                tree[prefix + name] = None if node.is_folder else _content(node, keep, rng)
                if node.is_folder:
                    walk(node, f"{prefix}{name}/")

        walk(self.root, "")
        return tree


def _apply(naming):
    for folder, name, node in naming.changes:
        if node is None:
            folder.names_on_disk.pop(name, None)
        else:
            folder.names_on_disk[name] = node


def _put(data, at, written):
    """Writes at a place; None makes the file end there."""
    data.extend(bytes(max(0, at - len(data))))
    if written is None:
        del data[at:]
    else:
        data[at:at + len(written)] = written


def _content(node, keep, rng):
    if not node.unsynced or keep == "bytes":
        return bytes(node.data)
    if keep in ("nothing", "names"):
        return node.on_disk
    data = bytearray(node.on_disk)
    whole = rng.randrange(len(node.unsynced) + 1)
    for at, written in node.unsynced[:whole]:
        _put(data, at, written)
    if whole < len(node.unsynced) and node.unsynced[whole][1]:
        at, written = node.unsynced[whole]
        part = written[:rng.randrange(len(written) + 1)]
        _put(data, at, part)
        if rng.random() < 0.3:  # the size is on the disk, the bytes are not
            data[at:] = bytes(len(data) - at)
    return bytes(data)


def write_tree(tree, out):
    for path, content in tree.items():
        if content is None:
            (out / path).mkdir(parents=True, exist_ok=True)
        else:
            (out / path).write_bytes(content)


def digest(tree):
    sha = hashlib.sha256()
    for path in sorted(tree):
        sha.update(repr((path, tree[path])).encode())
    return sha.hexdigest()


def record(bench):
    """The operations of the row's undisturbed command."""
    out = bench.new_folder("recorded")
    log = bench.folder / "operations"
    done = bench.run([*STRACE, "-o", str(log), *bench.command(out)], out)
    require(done.code == 0, f"{bench.row.name}, recorded: exit code {done.code}: {done.said[-300:]}")
    recording = Recording(log.read_text(), out)
    log.unlink()
    whole = recording.crash(len(recording), "bytes", random.Random(0), bench.start)
    files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    files["stdout"] = whole.get("stdout", b"")  # opened before the command began
    require({"stdout": b"", **{name: content for name, content in whole.items() if content is not None}} == files,
            "the recorded operations do not make the files that the command made:",
            *(name for name in sorted(files.keys() | whole.keys()) if whole.get(name) != files.get(name) and whole.get(name, b"") is not None))  # fmt: skip
    shutil.rmtree(out)
    return recording


def points(bench, recording, count, seed, only=None):
    """(name, check) of power losses: after each operation with each way to lose, or `count` of them; the last one after the end.
    A name is CUT-KEEP-SEED."""
    rng = random.Random(f"{seed} {bench.row.name} power")
    every = [(cut, keep) for cut in range(1, len(recording)) for keep in KEEPS]
    chosen = every if count is None else rng.sample(every, min(count, len(every)))
    named = [(f"{cut}-{keep}-{rng.randrange(10**6) if count else number}", cut, keep) for number, (cut, keep) in enumerate(chosen)]
    named.append((f"{len(recording)}-nothing-0", len(recording), "nothing"))
    if only:
        cut, keep, _ = only.split("-")
        named = [(only, min(int(cut), len(recording)), keep)]
    seen = set()
    return [(name, lambda cut=cut, keep=keep, name=name: check(bench, recording, cut, keep, name, seen)) for name, cut, keep in named]


def check(bench, recording, cut, keep, name, seen, ignored=()):
    tree = recording.crash(cut, keep, random.Random(name), bench.start, ignored)
    tree.pop("stdout", None)
    key = digest({path: content for path, content in tree.items() if not commands.UNSTABLE.search(path)})
    if key in seen:  # the same disk as at another point
        return
    seen.add(key)
    out = bench.folder / f"power-{name}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    write_tree(tree, out)
    place = f"after operation {cut}, {recording.operations[cut - 1][0]}"
    try:
        if cut == len(recording):  # what a command that has ended made is on the disk
            found = {**bench.outcome(out), "stdout": b""}
            require(found == {**bench.wanted, "stdout": b""}, "ended, but the disk does not have", difference(found, {**bench.wanted, "stdout": b""}))
        bench.check_again(out)
    except Failure as failure:
        raise Failure(f"{place}: {failure}") from None
    shutil.rmtree(out)
