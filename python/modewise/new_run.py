"""New run folders of estimators, and the data they write into them for the program."""

import contextlib
import fnmatch
import itertools
import json
import os
import pathlib
import re
import shutil
from collections.abc import Iterator

from modewise._temporary_run import LEADERBOARD, TemporaryFolder, run_files
from modewise.errors import CannotCreateError, ModewiseError, ReadWriteError
from modewise.run_folder import RunFolder


class NewRun:
    """A new run folder. Data for the program go into a subfolder: RUN/data, or the first free one of data2, data3, … if an
    earlier run is replaced. Existing files are not changed."""

    def __init__(self, folder: pathlib.Path, missing: list[pathlib.Path]) -> None:
        """`missing`: the folder and its parents that this call creates, deepest first."""
        self.folder, self.missing, self.earlier = folder, missing, manifest_bytes(folder)
        self.inputs: pathlib.Path | None = None
        self.temporary: TemporaryFolder | None = None

    def stem(self) -> pathlib.Path:
        """Creates the data folder -> the prefix of paths of data files, RUN/data/RUN."""
        if self.inputs is None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self.inputs = new_inputs(self.folder)
            except OSError as error:
                raise CannotCreateError(f"cannot create {error.filename or self.folder}: {error.strerror or error}") from None
        return self.inputs / os.path.basename(os.path.abspath(self.folder))

    def has_begun(self) -> bool:
        """Whether the folder is a new run, whose manifest lists the data if they were written for it, or a search."""
        if (self.folder / "auto").is_dir():
            return True
        if self.inputs is None:
            return manifest_bytes(self.folder) != self.earlier
        try:
            return self.inputs.name in listed_files(self.folder)
        except ModewiseError:
            return False

    def remove_created(self) -> None:
        """Removes what this object created, unless the run has begun."""
        if self.inputs is not None and not self.has_begun():
            shutil.rmtree(self.inputs, ignore_errors=True)
        for folder in self.missing:
            with contextlib.suppress(OSError):  # it holds something
                folder.rmdir()


def manifest_bytes(folder: pathlib.Path) -> bytes:
    """The manifest of a run, which holds its id; b"" without one."""
    try:
        return (folder / "manifest.json").read_bytes()
    except OSError:
        return b""


def run_id(folder: pathlib.Path) -> str:
    """The id of the run in a folder; "" without one."""
    try:
        return str(json.loads(manifest_bytes(folder))["run_id"])
    except (ValueError, LookupError, TypeError):
        return ""


def listed_files(folder: pathlib.Path) -> list[str]:
    """Files of a run, by its manifest."""
    files = RunFolder(folder).manifest.get("files")
    return files if isinstance(files, list) else []


def earlier_files(folder: pathlib.Path, run: pathlib.Path) -> list[pathlib.Path]:
    """Files and folders of the run in `folder`, by its manifest, which the run in another folder replaces. CannotCreateError for a file
    or folder that has the name of one of the other run and is not listed."""
    try:
        manifest = json.loads(manifest_bytes(folder))
        own = [name for name in manifest["files"] if manifest["task"] and (name in listed_files(run) or re.fullmatch(r"data\d*", name))]
    except (ValueError, LookupError, TypeError):
        own = []
    found = [path for path in folder.iterdir() if any(fnmatch.fnmatchcase(path.name, name) for name in own)] if folder.is_dir() else []
    for name in sorted({name.split("/")[0] for name in run_files(run) if name != LEADERBOARD}):
        if folder / name not in found and os.path.lexists(folder / name):
            raise CannotCreateError(f"{folder} contains {name}, which no run manifest lists: move it away, or choose another folder")
    return found + ([folder / LEADERBOARD] if found and (folder / LEADERBOARD).is_file() else [])


def new_inputs(folder: pathlib.Path) -> pathlib.Path:
    """Creates folder/data, or the first of data2, data3, … that neither exists nor belongs to the run in the folder."""
    try:
        taken = listed_files(folder)
    except ModewiseError:
        taken = []
    for number in itertools.count(1):
        path = folder / ("data" if number == 1 else f"data{number}")
        if path.name not in taken:
            with contextlib.suppress(FileExistsError):
                path.mkdir()
                return path
    raise AssertionError


def missing_folders(folder: pathlib.Path) -> list[pathlib.Path]:
    """The folder and its parents that do not exist, deepest first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def require_free(folder: pathlib.Path, overwrite: bool) -> None:
    """CannotCreateError for a folder that is not empty."""
    if not overwrite and folder.is_dir() and any(folder.iterdir()):
        raise CannotCreateError(f"{folder} exists already: choose another run, or overwrite=True to replace the run in it")


@contextlib.contextmanager
def new_run(run: str | os.PathLike[str], overwrite: bool) -> Iterator[NewRun]:
    """The run folder `run`. If the block ends before the run begins, everything created for it is removed. ReadWriteError if
    data cannot be written."""
    folder = pathlib.Path(run)
    require_free(folder, overwrite)
    made = NewRun(folder, missing_folders(folder))
    try:
        yield made
    except BaseException as error:
        made.remove_created()
        if isinstance(error, OSError) and not isinstance(error, ModewiseError):
            raise ReadWriteError(f"cannot write {error.filename or made.folder}: {error.strerror or error}") from None
        raise
