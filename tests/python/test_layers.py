"""The layers of modewise/ include each other as CONTRIBUTING.md says (section "Layers"), link what they include, and the
task folders of a layer are independent of each other. Reads sources only: nothing needs to be built."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "modewise"
INCLUDE = re.compile(r'\s*#\s*include\s+(["<])([^">]+)[">]')
TASKS = {path.parent.name for path in SOURCES.glob("tasks/*/spec.h")}
REGISTRY = pathlib.Path("tasks/registry.cpp")  # the one shared file that includes task folders
LAYERS = ("data", "models", "tasks")


def lines(faults):
    return "\n".join(["", *faults])


def section():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return text.split("## Layers\n")[1].split("\n## ")[0]


def may_include():
    """layer: the layers that it may include, by all chains `a, b ← c, d ← …` together."""
    below = {}
    for chain in re.findall(r"`([^`]*←[^`]*)`", section()):
        groups = [[name.strip() for name in group.split(",")] for group in chain.split("←")]
        for group in groups:
            for name in group:
                below.setdefault(name, set())
        for left, right in zip(groups, groups[1:]):
            for name in right:
                below[name] |= set(left)

    def reach(name, path=()):
        assert name not in path, f"the rule goes round in a circle: {' ← '.join((*path, name))}"
        return {name}.union(*(reach(lower, (*path, name)) for lower in below[name]))

    return {name: reach(name) for name in below}


def free_of_torch():
    line = re.search(r"- (.*) are free of torch", section())
    return re.findall(r"`(\w+)`", line[1])


def sources():
    return sorted(path for path in SOURCES.rglob("*") if path.suffix in (".h", ".cpp"))


def includes():
    """(file below modewise/, line, bracket, what is included) for each include of modewise/."""
    for path in sources():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := INCLUDE.match(line):
                yield path.relative_to(SOURCES), number, match[1], match[2]


def own_includes():
    """(file, line, its layer, the included file below modewise/, the layer of that) for each include of our own."""
    for file, number, _, name in includes():
        if name.startswith("modewise/"):
            other = pathlib.PurePath(name.removeprefix("modewise/"))
            yield file, number, file.parts[0], other, other.parts[0]


def place(file, number):
    return f"modewise/{file}:{number}"


def test_the_rule_names_every_layer():
    folders = {path.name for path in SOURCES.iterdir() if path.is_dir()}
    assert set(may_include()) == folders


def test_every_include_stands_to_the_left():
    allowed = may_include()
    found = list(own_includes())
    assert len(found) > 1000
    assert {layer for _, _, layer, _, _ in found} == set(allowed)
    wrong = [f"{place(file, number)}: {layer} includes {other}, and may include {', '.join(sorted(allowed[layer]))}"
             for file, number, layer, other, lower in found if lower not in allowed[layer]]  # fmt: skip
    assert not wrong, lines(wrong)


def test_headers_are_named_from_the_root():
    """So that the rule sees them all; what the build makes (modewise_version.h) has no folder."""
    wrong = [f'{place(file, number)}: "{name}"' for file, number, bracket, name in includes()
             if bracket == '"' and not name.startswith("modewise/") and name != "modewise_version.h"]  # fmt: skip
    assert not wrong, lines(wrong)


def test_layers_without_torch_include_none():
    layers = free_of_torch()
    assert {"core", "io", "text", "report"} <= set(layers)
    wrong = [f"{place(file, number)}: <{name}>" for file, number, _, name in includes()
             if file.parts[0] in layers and name.split("/")[0] in ("torch", "ATen", "c10")]  # fmt: skip
    assert not wrong, lines(wrong)


def linked(layer):
    text = (SOURCES / layer / "CMakeLists.txt").read_text()
    call = re.search(rf"modewise_library\({layer}\b(.*?)\)", text, re.S)
    return set(call[1].split("LINK")[1].split())


@pytest.mark.parametrize("layer", sorted(may_include()))
def test_a_layer_links_what_it_includes(layer):
    allowed = may_include()
    links = linked(layer) & set(allowed)
    used = {}
    for file, number, own, _, lower in own_includes():
        if own == layer and lower != layer:
            used.setdefault(lower, place(file, number))
    missing = [f"LINK of {layer} lacks {lower}, included at {where}" for lower, where in sorted(used.items())
               if lower not in links]
    assert not missing, lines(missing)
    assert links <= allowed[layer] - {layer}
    assert ("torch" in linked(layer)) <= (layer not in free_of_torch())


@pytest.mark.parametrize("layer", LAYERS)
def test_task_folders_include_no_other_task(layer):
    """In data/, models/ and tasks/ the folder of a task includes its own headers and shared ones."""
    folders = [task for task in TASKS if (SOURCES / layer / task).is_dir()]
    assert len(folders) >= 4
    wrong = []
    for file, number, own, other, lower in own_includes():
        task = file.parts[1] if own == layer and file.parts[1] in TASKS else None
        theirs = other.parts[1] if lower in LAYERS and other.parts[1] in TASKS else None
        if task and theirs and theirs != task:
            wrong.append(f"{place(file, number)}: {layer}/{task} includes {other}")
    assert not wrong, lines(wrong)


@pytest.mark.parametrize("layer", LAYERS)
def test_shared_files_include_no_task(layer):
    wrong = [f"{place(file, number)}: a shared file of {layer} includes {other}"
             for file, number, own, other, lower in own_includes()
             if own == layer and file != REGISTRY and file.parts[1] not in TASKS and lower in LAYERS and other.parts[1] in TASKS]  # fmt: skip
    assert not wrong, lines(wrong)
