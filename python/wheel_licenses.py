"""Puts the licences of the libraries in a wheel that auditwheel repaired into it: licenses/PACKAGE.txt of its .dist-info.

    python python/wheel_licenses.py build/wheel/modewise-….whl

Debian keeps the licence of a package in /usr/share/doc/PACKAGE/copyright, and long licences once, in
/usr/share/common-licenses.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

HEADERS = ("libcli11-dev", "nlohmann-json3-dev")  # compiled into the libraries, without a library of their own
OURS = ("libjbig",)  # python/libjbig_stub.c


def licence(package: str) -> str:
    """The text for one package, with the common licences that it refers to."""
    text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text()
    common = sorted(set(re.findall(r"/usr/share/common-licenses/[\w.-]*\w", text)))
    return "\n\n".join([text, *(f"{path}:\n\n{pathlib.Path(path).read_text()}" for path in common)])


def package_of(library: str) -> str:
    """The installed package that owns "libtiff.so.6.0.0"."""
    found = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True).stdout
    if not found:
        sys.exit(f"error: no installed Debian package owns {library}, whose licence the wheel needs")
    return found.partition(":")[0]


def packages(names: list[str]) -> list[str]:
    """Of the libraries that auditwheel copied: modewise.libs/libtiff-4cadf372.so.6.0.0."""
    copied = [(found[1], found[2]) for name in names if (found := re.fullmatch(r"modewise\.libs/(.+)-[0-9a-f]{8}(\.so.*)", name))]
    return sorted({*HEADERS, *(package_of(stem + suffix) for stem, suffix in copied if stem not in OURS)})


def add_licences(wheel: pathlib.Path) -> list[str]:
    """Adds the licences to the wheel; returns the packages."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    names = [entry.filename for entry, _ in entries]
    record = next(name for name in names if name.endswith(".dist-info/RECORD"))
    folder = record.removesuffix("/RECORD")
    found = packages(names)
    added = {f"{folder}/licenses/{package}.txt": licence(package).encode() for package in found}
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for name, data in added.items()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries:
            archive.writestr(entry, data + "".join(lines).encode() if entry.filename == record else data, zipfile.ZIP_DEFLATED)
        for name, data in added.items():
            archive.writestr(name, data)
    return found


if __name__ == "__main__":
    print("licences in the wheel:", *add_licences(pathlib.Path(sys.argv[1])))
