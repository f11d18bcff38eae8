"""Which sources `./dev lint` gives to clang-tidy, with which flags, and what it does not check again. Needs no clang-tidy."""

import json
import re
import subprocess
import sys

import pytest

from test_layers import ROOT, free_of_torch

sys.path.insert(0, str(ROOT / "tests"))
import run_clang_tidy as lint

# In place of clang-tidy: finds the word BAD, and equal names in sources that it reads together.
PROGRAM = """#!/bin/sh
[ "$1" = --version ] && echo 1.0 && exit
sources=$2
case $2 in *.together.cpp) sources=$(sed -n 's/^#include "\\([^"]*\\)".*/\\1/p' "$2"); echo "$sources" | paste -sd + >>reads ;; esac
printf '%s\\n' $sources >>calls
! grep -Hn BAD $sources && [ -z "$(cat $sources | grep NAME | sort | uniq -d)" ]
"""


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=folder, check=True, capture_output=True)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with a source in a layer without torch, its header, and sources in another layer."""
    write(tmp_path / ".clang-tidy", "Checks: '*'\n")
    write(tmp_path / ".gitignore", "/build/\n/calls\n/reads\n/program\n")
    write(tmp_path / "modewise/io/a.h", "int a();\n")
    write(tmp_path / "modewise/io/a.cpp", '#include "modewise/io/a.h"\n')
    for name in "bcdefghij":
        write(tmp_path / f"modewise/nn/{name}.cpp", "int b;\n")
    write(tmp_path / "program", PROGRAM).chmod(0o755)
    git(tmp_path, "init", "--initial-branch", "main")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--message", "one")
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    return tmp_path


@pytest.fixture
def run(project, monkeypatch, capsys):
    def once(*words):
        """The exit status, the checked sources and what was printed."""
        (project / "calls").write_text("")
        monkeypatch.setattr(sys, "argv", ["lint", "--program", str(project / "program"), "--build", str(project / "build"), *words])
        status = lint.main()
        return status, sorted((project / "calls").read_text().split()), capsys.readouterr().out
    return once


def build(project, *sources):
    """Compile commands: the first source alone, the others as one unity file."""
    unity = write(project / "build/nn/Unity/unity_0.cxx", "".join(f'#include "{source}"\n' for source in sources[1:]))
    entries = [{"file": str(project / sources[0]), "command": f"c++ -Dalone -Wall -o a.o -c {project / sources[0]}"},
               {"file": str(unity), "command": f"c++ -Dunited -Werror -fopenmp -include pch.h -O3 -o b.o -c {unity}"}]
    write(project / "build/compile_commands.json", json.dumps(entries))


def test_the_layers_are_those_of_the_rule():
    assert set(lint.LAYERS) == set(free_of_torch())


def test_sources_left_out_exist():
    assert [path for path in lint.NOT_FOR_CLANG if not (ROOT / path).is_file()] == []


def test_flags_of_a_unity_file_are_those_of_its_sources(project):
    build(project, "modewise/nn/b.cpp", "modewise/nn/c.cpp", "modewise/nn/d.cpp")
    assert lint.read_commands(project / "build") == {
        "modewise/nn/b.cpp": ["-Dalone"], "modewise/nn/c.cpp": ["-Dunited", "-O3"], "modewise/nn/d.cpp": ["-Dunited", "-O3"]}


def test_what_differs_from_the_base(project):
    assert lint.changed_sources() == []  # one commit, nothing before it
    (project / "modewise/nn/b.cpp").write_text("int c;\n")
    git(project, "commit", "--all", "--message", "two")
    assert lint.changed_sources() == ["modewise/nn/b.cpp"]  # on main: since the commit before
    git(project, "switch", "--create", "work")
    (project / "modewise/nn/c.cpp").write_text("int c;\n")
    git(project, "commit", "--all", "--message", "three")
    write(project / "modewise/nn/new.cpp", "int n;\n")
    write(project / "modewise/nn/d.h", "int d;\n")  # stands for d.cpp
    write(project / "modewise/nn/alone.h", "int e;\n")
    assert lint.changed_sources() == ["modewise/nn/c.cpp", "modewise/nn/d.cpp", "modewise/nn/new.cpp"]
    git(project, "update-ref", "refs/remotes/origin/main", "HEAD")
    (project / "modewise/nn/c.cpp").unlink()
    assert lint.changed_sources() == ["modewise/nn/d.cpp", "modewise/nn/new.cpp"]


def test_a_source_that_passed_is_checked_again_only_when_something_changes(project, run):
    assert run()[:2] == (0, ["modewise/io/a.cpp"])
    assert run() == (0, [], "clang-tidy: 0 sources checked, 0 with findings; 1 unchanged since they passed\n")
    (project / "modewise/io/a.h").write_text("int b();\n")
    assert run()[:2] == (0, ["modewise/io/a.cpp"])
    (project / ".clang-tidy").write_text("Checks: 'bugprone-*'\n")
    assert run()[:2] == (0, ["modewise/io/a.cpp"])
    (project / "modewise/io/a.cpp").write_text("int BAD;\n")
    for _ in range(2):
        status, checked, said = run()
        assert (status, checked) == (1, ["modewise/io/a.cpp"])
        assert said == "modewise/io/a.cpp:1:int BAD;\nclang-tidy: 1 sources checked, 1 with findings; 0 unchanged since they passed\n"


def test_sources_are_read_together_and_their_findings_alone(project, run):
    names = [f"modewise/io/{name}.cpp" for name in "abcd"]
    for name in names[1:]:
        write(project / name, "int d;\n")
    assert run() == (0, names, "clang-tidy: 4 sources checked, 0 with findings; 0 unchanged since they passed\n")
    assert (project / "reads").read_text().split() == ["+".join(names)]
    for name in names[:3]:
        (project / name).write_text("int NAME;\n")  # a and b are equal together, c is fine beside d
    status, _, said = run()
    assert (status, said) == (0, "clang-tidy: 3 sources checked, 0 with findings; 1 unchanged since they passed\n")
    for name in names[:2]:
        (project / name).write_text(f"int BAD, {name[-5]};\n")
    (project / names[3]).write_text("int e;\n")
    status, _, said = run()
    assert status == 1
    assert said == (f"{names[0]}:1:int BAD, a;\n{names[1]}:1:int BAD, b;\n"
                    "clang-tidy: 3 sources checked, 2 with findings; 1 unchanged since they passed\n")
    assert run()[1:] == (sorted(2 * names[:2]), said.replace("3 sources", "2 sources").replace("1 unchanged", "2 unchanged"))


def test_groups_have_the_same_flags_and_a_limited_size():
    jobs = {f"{i}.cpp": ["-O1"] if i % 3 else ["-O2"] for i in range(60)}
    groups = lint.groups(jobs)
    assert sorted(sum(groups, [])) == sorted(jobs)
    assert all(len({tuple(jobs[source]) for source in group}) == 1 for group in groups)
    assert sorted(map(len, groups)) == [4, 8, 16, 16, 16]


def test_changed_sources_need_a_build(project, run, monkeypatch):
    (project / "modewise/nn/b.cpp").write_text("int c;\n")
    git(project, "commit", "--all", "--message", "two")
    status, checked, said = run()
    assert (status, checked) == (0, ["modewise/io/a.cpp"])
    assert re.search(r"^not checked, .*/build/compile_commands.json is missing: ./dev build makes it: 1 sources \(modewise/nn/b.cpp\)$", said, re.M)
    build(project, "modewise/nn/b.cpp", "modewise/nn/c.cpp")
    assert run()[:2] == (0, ["modewise/nn/b.cpp"])
    assert run("--all")[1] == ["modewise/nn/c.cpp"]
    assert run("--all")[2].startswith("not checked, they are not in ")
    monkeypatch.chdir(project / "modewise")
    assert run("nn/d.cpp", "nn/c.cpp")[1] == []  # d is in no build, c has passed
    with pytest.raises(SystemExit, match="lint: there is no source nn/none.cpp in the project"):
        run("nn/none.cpp")


def test_many_changed_sources_are_not_checked(project, run, monkeypatch):
    monkeypatch.setattr(lint, "MAX_OTHERS", 6)
    for name in "bcdefgh":
        (project / f"modewise/nn/{name}.cpp").write_text("int BAD;\n")
    git(project, "commit", "--all", "--message", "two")
    build(project, *(f"modewise/nn/{name}.cpp" for name in "bcdefgh"))
    status, checked, said = run()
    assert (status, checked) == (0, ["modewise/io/a.cpp"])
    assert said.startswith("7 changed sources outside the layers without torch are not checked")
    assert run("--all")[0] == 1


def test_the_citation_has_the_version_of_the_project():
    version = re.search(r"^project\(modewise VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == version
