"""The version of Triton that the tests of its kernels are written for: checked_interpreter.py replaces private functions of it, and the
registers in triton_compiled.toml depend on its compiler. `dev` installs it."""

import importlib.metadata

VERSION = "3.9.0"


def missing():
    """Why these tests cannot run here, or ""."""
    try:
        found = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return f"Triton {VERSION} is not installed"
    return "" if found == VERSION else f"needs Triton {VERSION}, found {found}"
