"""Docstrings of public names: NumPy's sections name every parameter and what is returned, and their examples print what they say."""

import doctest
import importlib
import inspect
import pkgutil
import re
import typing

import pytest

import modewise
import modewise.transformers

SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples|Attributes)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.S | re.M)
ESTIMATORS = ("Forecaster", "LanguageModel", "Segmenter", "SeriesClassifier", "VolumeClassifier")


def public():
    yield "load", modewise.load
    for name in ESTIMATORS:
        yield name, getattr(modewise, name)
    for module in (modewise.tasks, modewise.nn, modewise.ops):
        for name in module.__all__:
            if callable(member := getattr(module, name)) and name != "Result":
                yield f"{module.__name__.removeprefix('modewise.')}.{name}", member
    yield from (("transformers.configure", modewise.transformers.configure), ("transformers.prepare", modewise.transformers.prepare))


PUBLIC = dict(public())
METHODS = {f"{name}.{method}": getattr(PUBLIC[name], method) for name in ESTIMATORS for method in vars(PUBLIC[name])
           if not method.startswith("_") and inspect.isfunction(vars(PUBLIC[name])[method])}  # fmt: skip


def sections(member):
    return dict(SECTION.findall(inspect.getdoc(member)))


def missing(member):
    """Parameters that the section does not name."""
    if inspect.isclass(member) and any("dataclass" in name for name in vars(member)):
        return []
    names = [name for name, parameter in inspect.signature(member).parameters.items() if name != "self"]
    listed = re.findall(r"^(\S.*)$", sections(member).get("Parameters", ""), re.M)
    named = {name for line in listed for name in re.split(r",\s*", line.partition(" :")[0])}
    return [name for name in names if name not in named]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_its_sections(name):
    member = PUBLIC[name]
    assert missing(member) == []
    assert ">>> " in sections(member)["Examples"]
    if not inspect.isclass(member) and inspect.signature(member).return_annotation not in (None, "None"):
        assert sections(member)["Returns"].strip()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_names_its_parameters(name):
    """In the section, or for short methods in the first sentence; y of scikit-learn's interface is None."""
    text = inspect.getdoc(METHODS[name])
    assert [one for one in missing(METHODS[name]) if one != "y" and f"`{one}`" not in text] == []


def annotations(member):
    """Types of parameters and results but two: documents of the program (tasks.Result) are JSON objects, and NumPy's types of
    arrays have Any for numbers of every type."""
    for form in typing.get_overloads(member) or [member]:
        found = inspect.signature(form)
        for one in (found.return_annotation, *(parameter.annotation for parameter in found.parameters.values())):
            if one != modewise.tasks.Result and "numpy." not in str(one):
                yield str(one)


@pytest.mark.parametrize("name", [*PUBLIC, *METHODS])
def test_a_public_signature_has_no_any(name):
    assert [one for one in annotations({**PUBLIC, **METHODS}[name]) if re.search(r"\bAny\b", one)] == []


def test_a_missing_parameter_is_found():
    def some(first, second, third):
        """Adds.

        Parameters
        ----------
        first, second : int
            Numbers.
        """

    assert missing(some) == ["third"]


MODULES = sorted({member.__module__ for member in PUBLIC.values()} | {module.name for module in pkgutil.iter_modules(modewise.ops.__path__, "modewise.ops.")})


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_they_say(module):
    """Without +SKIP they run; those of training are in the tutorials and in docs/python.md."""
    assert doctest.testmod(importlib.import_module(module)).failed == 0
