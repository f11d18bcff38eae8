#!python
"""The program `modewise` of an installed package, with this Python's torch, which is not imported: a start takes milliseconds."""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import sys


def folder(package):
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"error: the package {package} is not installed beside {sys.executable}: pip install {package}")
    return pathlib.Path(spec.origin).parent


def minor(version):
    return ".".join(version.split("+")[0].split(".")[:2])


package, torch = folder("modewise"), folder("torch")
built, found = json.loads((package / "lib/modewise_build.json").read_text())["torch"], importlib.metadata.version("torch")
if minor(built) != minor(found):
    sys.exit(f"error: modewise was built for torch {minor(built)} and torch {found} is installed: install torch {minor(built)} "
             f"(pip install 'torch=={minor(built)}.*')")  # fmt: skip
os.environ["LD_LIBRARY_PATH"] = ":".join([str(torch / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & set(os.environ):
    os.environ["GOMP_SPINCOUNT"] = "3000"  # as cli/main.cpp does
os.execv(package / "bin/modewise", ["modewise", *sys.argv[1:]])
