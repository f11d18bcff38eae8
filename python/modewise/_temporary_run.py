"""Temporary run folders of estimators, and run folders as bytes for pickles."""

import os
import pathlib
import shutil
import tempfile
import weakref
from collections.abc import Collection

LEFT_OUT = (".lock", "auto")  # a lock of the folder, and the other runs of a search
LEADERBOARD = "auto/leaderboard.json"


class TemporaryFolder:
    """A folder that is removed with this object, or when the process ends."""

    def __init__(self) -> None:
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="modewise-"))
        weakref.finalize(self, remove, self.path, os.getpid())


def remove(path: pathlib.Path, process: int) -> None:
    """Removes a folder that this process made; a forked one leaves it."""
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


def run_files(run: pathlib.Path) -> dict[str, pathlib.Path]:
    """Files of a run by their paths in it: a search's own runs are left out, its leaderboard is not."""
    files = {path.relative_to(run).as_posix(): path for path in sorted(run.rglob("*")) if path.is_file()}
    return {name: path for name, path in files.items() if name == LEADERBOARD or name.split("/")[0] not in LEFT_OUT}


def packed(run: pathlib.Path) -> dict[str, bytes]:
    """The files of a run as bytes."""
    return {name: path.read_bytes() for name, path in run_files(run).items()}


def unpack(files: dict[str, bytes], run: pathlib.Path) -> None:
    """Writes `packed` files into the folder `run`."""
    for name, content in files.items():
        path = run / name
        if not path.resolve().is_relative_to(run.resolve()):
            raise ValueError(f"{name} is outside of the run folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_run(run: pathlib.Path, folder: pathlib.Path, earlier: Collection[pathlib.Path] = ()) -> None:
    """Copies the files of a run into the folder, in the place of the files and folders `earlier`, which are kept until all is copied;
    config.toml, which makes the folder a run, is the last."""
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(run_files(run), key=lambda name: name == "config.toml")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".saving-") as copying:
        copies = pathlib.Path(copying)
        for name in names:
            (copies / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(run / name, copies / name)
        for path in sorted(earlier, key=lambda path: path.name != "config.toml"):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (copies / name).replace(folder / name)
