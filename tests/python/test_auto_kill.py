"""`train --model auto` killed at each system call that touches a file of its folder, and resumed: the same leaderboard, the same
bits. The plain tests kill at every change of the start, at the renames behind the choice, and at some calls between; the long one at
every call."""

import json
import re
import shutil
import subprocess

import pytest
from cli_helpers import PROGRAM, fails, write_csv
from faults.inject import CHANGING, TOUCHING, kill_at, list_calls, needs_strace

pytestmark = needs_strace
# With an hour for a second's work every training is whole whatever the clock says, so that the plan is always the same.
SEARCH = ["--model", "auto", "--budget", "1h", "--jobs", "1", "--threads", "1", "--set", "forecast.lookback=8", "--set", "forecast.horizon=4",
          "--set", "train.epochs=1"]  # fmt: skip
CANDIDATES = ["repeat", "dlinear"]  # one that is fitted, one that is trained


def start(table, run):
    return [PROGRAM, "train", "forecast", "--data", table, "--out", run, *SEARCH]


def resume(run):
    return [PROGRAM, "train", "--resume", run]


def finish(command):
    """A process of its own: the trainings of a search are started from its program's file, which their manifests name."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def second_rename():
    """Ends a start at the rename behind the one that makes the folder a search."""
    return ["rename:signal=KILL:when=2"]


def leaderboard(run):
    return [(row["name"], row["stage"], row["run"], row["steps"], row["/best/val_mse"])
            for row in json.loads((run / "auto" / "leaderboard.json").read_text())]  # fmt: skip


def outcome(run):
    """Everything of a finished search that does not tell the time."""
    files = {str(p.relative_to(run)): p.read_bytes() for p in run.rglob("*") if p.is_file() and run / "auto" not in p.parents}
    manifest = json.loads(files.pop("manifest.json"))
    files["report.html"] = files.get("report.html", b"").replace(manifest.pop("started").encode(), b"")
    for name in ("log.txt", "timing.json"):
        del files[name]
    return {**files, "leaderboard": leaderboard(run), "manifest": manifest}


class Search:
    """A search of two candidates in `run`, put back to where it was for each kill."""

    def __init__(self, folder):
        self.folder, self.run, self.table = folder, folder / "run", write_csv(folder / "t.csv", rows=80, columns=("a",))
        self.begun, self.evaluated = folder / "begun", folder / "evaluated"
        list_calls(start(self.table, self.run), self.run, faults=second_rename())
        request = json.loads((self.run / "auto" / "request.json").read_text())
        self.request = (self.run / "auto" / "request.json").read_bytes()
        named = [one for one in request["candidates"] if one["name"] in CANDIDATES]
        assert [one["name"] for one in named] == CANDIDATES
        request.update(candidates=named, ensemble=[], splits=[])
        shutil.rmtree(self.run)
        (self.begun / "auto").mkdir(parents=True)
        (self.begun / "auto" / "request.json").write_text(json.dumps(request))
        self.put_back(self.begun)
        finish(resume(self.run))
        self.wanted = outcome(self.run)
        assert not (self.run / ".lock").exists() and not (self.run / "auto" / "chosen").exists()
        self.training, choice = self.before_choice(self.calls(self.begun))
        self.put_back(self.begun)
        kill_at(resume(self.run), self.run, choice)
        shutil.copytree(self.run, self.evaluated)

    def put_back(self, state):
        shutil.rmtree(self.run, ignore_errors=True)
        if state is not None:
            shutil.copytree(state, self.run)

    def calls(self, state, names=CHANGING):
        self.put_back(state)
        return list_calls(resume(self.run), self.run, names)

    def before_choice(self, calls):
        """The calls until all is trained, and the first one behind them."""
        first = next(i for i, call in enumerate(calls) if str(call) == "mkdir auto/chosen")
        return calls[:first], calls[first]

    def check(self, state, call):
        self.put_back(state)
        kill_at(resume(self.run), self.run, call)
        finish(resume(self.run))
        assert outcome(self.run) == self.wanted, str(call)
        assert list(self.run.rglob("*.tmp-*")) == [], str(call)


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    return Search(tmp_path_factory.mktemp("auto"))


def kinds(calls, names):
    """The first call of each kind among the calls of these names: its paths without numbers, all files of a copied folder as one."""
    first = {}
    for call in calls:
        paths = tuple(re.sub(r"\d+", "N", re.sub(r"^auto/chosen/[^ ]*/.*", "auto/chosen/*", path)) for path in call.paths)
        if call.name in names:
            first.setdefault((call.name, paths), call)
    return list(first.values())


def start_calls(search, names):
    search.put_back(None)
    return list_calls(start(search.table, search.run), search.run, names, faults=second_rename())


def check_start(search, call):
    search.put_back(None)
    kill_at(start(search.table, search.run), search.run, call)
    if (search.run / "auto" / "request.json").exists():
        assert (search.run / "auto" / "request.json").read_bytes() == search.request, str(call)
        return
    fails(66, "no such run folder" if not search.run.exists() else "is not a run folder", arguments=resume(search.run)[1:])
    list_calls(start(search.table, search.run), search.run, faults=second_rename())  # the same command starts it again
    assert (search.run / "auto" / "request.json").read_bytes() == search.request, str(call)
    assert list(search.run.glob("*.tmp-*")) == [], str(call)


def test_killed_at_each_change_of_its_start(search):
    calls = start_calls(search, CHANGING)
    assert len(calls) >= 5
    for call in calls:
        check_start(search, call)


def test_killed_at_each_rename_between_the_choice_and_the_report(search):
    calls = kinds(search.calls(search.evaluated), ("rename", "mkdir", "rmdir"))
    assert {"rename auto/chosen/manifest.json manifest.json", "rename auto/chosen/config.toml config.toml", "rename metrics.json.tmp-* metrics.json",
            "rename report.html.tmp-* report.html", "rmdir auto/chosen"} <= set(map(str, calls))  # fmt: skip
    for call in calls:
        search.check(search.evaluated, call)


def test_killed_at_some_changes_of_the_search(search):
    calls = kinds(search.training, CHANGING)
    assert len(calls) >= 50
    for call in calls[::12]:
        search.check(search.begun, call)


def test_a_resume_behind_the_end_changes_nothing(search):
    search.put_back(search.evaluated)
    for _ in range(3):
        finish(resume(search.run))
        assert outcome(search.run) == search.wanted


@pytest.mark.long
def test_killed_at_each_call_that_touches_a_file(search):
    for call in start_calls(search, TOUCHING):
        check_start(search, call)
    for call in search.before_choice(search.calls(search.begun, TOUCHING))[0]:
        search.check(search.begun, call)
    for call in search.calls(search.evaluated, TOUCHING):
        search.check(search.evaluated, call)
