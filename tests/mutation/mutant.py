"""Mutants: changes of a source file at one place, and the order in which they are drawn."""

import collections
import dataclasses
import random

import cpp_mutants
import python_mutants

PLACES = {".cpp": cpp_mutants.places, ".py": python_mutants.places}


@dataclasses.dataclass(frozen=True)
class Mutant:
    layer: str
    file: str
    kind: str
    start: int
    end: int
    replacement: str
    line: int
    column: int
    before: str
    after: str

    @property
    def name(self):
        return f"{self.file}:{self.line}:{self.column} {self.kind}"

    def apply(self, text):
        return text[: self.start] + self.replacement + text[self.end :]

    def change(self):
        return "\n".join([f"  - {line}" for line in self.before.splitlines()] + [f"  + {line}" for line in self.after.splitlines()])


def mutants_of(layer, file, suffix, text):
    for name, start, end, replacement in PLACES[suffix](text):
        head = text.rfind("\n", 0, start) + 1
        before = text[head : (text.find("\n", end) + 1 or len(text) + 1) - 1]
        after = before[: start - head] + replacement + before[end - head :]
        if after != before:
            yield Mutant(layer, file, f"{name} {' '.join(replacement.split()) or 'dropped'}"[:60], start, end, replacement,
                         text.count("\n", 0, start) + 1, start - head + 1, before, after)


def draw(root, files, seed):
    """Yields one mutant of each layer in turn until all are drawn; the kind is drawn first, so that rare kinds occur too."""
    rng = random.Random(seed)
    left = {}
    for layer, paths in files.items():
        kinds = collections.defaultdict(list)
        for path in paths:
            for mutant in mutants_of(layer, str(path.relative_to(root)), path.suffix, path.read_text()):
                kinds[mutant.kind.split()[0]].append(mutant)
        left[layer] = kinds
    while any(left.values()):
        for kinds in left.values():
            if not kinds:
                continue
            name = rng.choice(sorted(kinds))
            places = kinds[name]
            yield places.pop(rng.randrange(len(places)))
            if not places:
                del kinds[name]
