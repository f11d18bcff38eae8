"""Counts of the structure of tasks and attention at a revision: classes of runs, virtual functions, registries, lines.

  tests/structure_counts.py           # the working tree
  tests/structure_counts.py REV REV2  # revisions, one column each
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN_CLASS = re.compile(r"^class (\w*(?:Run|Job|Training|RunOf))\b([^;{]*)\{(.*?)^\};", re.M | re.S)
OPENED = re.compile(r"^struct ((?:Opened\w+|\w+Run)\b[^;{]*)\{", re.M)
LIST = re.compile(r"^std::span<const (\w+)> \w+\([^)]*\);", re.M)


def sources(revision: str | None) -> dict[str, str]:
    """C++ files of modewise/ and cli/ by path."""
    if revision is None:
        files = [p for folder in ("modewise", "cli") for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp")]
        return {str(p.relative_to(ROOT)): p.read_text() for p in files}
    names = subprocess.check_output(["git", "ls-tree", "-r", "--name-only", revision, "modewise", "cli"], cwd=ROOT, text=True)
    wanted = [name for name in names.split("\n") if name.endswith((".h", ".cpp"))]
    return {name: subprocess.check_output(["git", "show", f"{revision}:{name}"], cwd=ROOT, text=True) for name in wanted}


def registries(text: str) -> int:
    """Lists whose rows have properties; rows of a name and functions make a list of constructors."""
    rows = [re.search(rf"^struct {name} \{{(.*?)^\}};", text, re.M | re.S) for name in LIST.findall(text)]
    members = [re.sub(r"//.*", "", row[1]).split(";") for row in rows if row]
    return sum(any("(" not in one and one.split()[-1:] not in ([], ["name"]) for one in row) for row in members)


def counts(revision: str | None) -> dict[str, int]:
    files = sources(revision)
    tasks = {name: text for name, text in files.items() if name.startswith("modewise/tasks/")}
    classes = [match for text in tasks.values() for match in RUN_CLASS.finditer(text)]
    roots = [m for m in classes if ":" not in m[2]]
    return {
        "interfaces of runs": len(roots),
        "classes of runs": len(classes) + sum(len(OPENED.findall(text)) for text in tasks.values()),
        "functions that a run must write": sum(m[3].count("= 0;") for m in roots),
        "virtual functions of runs": sum(len(re.findall(r"^  virtual (?!~)", m[3], re.M)) for m in classes),
        "attention registries": sum(registries(text) for name, text in files.items() if "attention" in name),
        "lines of cli and tasks": sum(text.count("\n") for name, text in files.items() if name in tasks or name.startswith("cli/")),
    }


def main() -> None:
    columns = [(name, counts(name)) for name in sys.argv[1:]] or [("now", counts(None))]
    print(f"{'':36}" + "".join(f"{name:>12}" for name, _ in columns))
    for row in columns[0][1]:
        print(f"{row:36}" + "".join(f"{values[row]:12}" for _, values in columns))


if __name__ == "__main__":
    main()
