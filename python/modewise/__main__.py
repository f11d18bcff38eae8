"""`python -m modewise …` is the program `modewise …`, in the same process."""

import os
import pathlib
import sys

import torch

from modewise._native import NATIVE

program = str(NATIVE / "bin" / "modewise")
# A torch that lies elsewhere than where the program was linked or installed beside.
paths = [str(pathlib.Path(torch.__file__).parent / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
os.environ["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
os.execv(program, [program, *sys.argv[1:]])
