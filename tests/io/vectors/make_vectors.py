"""Writes numpy.json, safetensors.json and csv.json: files made by NumPy, safetensors and Python's csv module, with
their contents, so that the C++ tests need no Python. Run with numpy and safetensors installed:

    python make_vectors.py
"""

import csv
import io
import json
import pathlib
import random
import struct

import numpy as np
import safetensors.numpy

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def sample(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        values = rng.normal(size=shape) * 10.0 ** rng.integers(-4, 4, shape)
        return values.astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)


def numpy_case(name, array, version=None):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=version)
    ordinary = stream.getvalue()
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), order="C")
    return {
        "name": name,
        "file": ordinary.hex(),
        "dtype": array.dtype.newbyteorder("=").name,
        "shape": list(array.shape),
        "bytes": little.tobytes().hex(),
        "values": [float(value).hex() for value in array.astype(np.float64).ravel(order="C")],
        # Our writer must give little-endian C arrays of version 1 byte for byte.
        "same_as_ours": version in (None, (1, 0)) and not (array.ndim > 1 and np.isfortran(array)) and array.dtype.byteorder != ">",
    }


def numpy_cases():
    cases = []
    for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "b1"):
        for order in "<>":
            if kind[1] == "1" and order == ">":
                continue
            dtype = np.dtype(order + kind)
            cases.append(numpy_case(f"{order}{kind}", sample(dtype, (3, 5))))
            cases.append(numpy_case(f"{order}{kind}-fortran", np.asfortranarray(sample(dtype, (2, 3, 4)))))
    for shape in ((), (1,), (0,), (7,), (0, 3), (3, 0, 2), (1, 1, 1), (2, 1, 3, 1, 2)):
        cases.append(numpy_case(f"shape{shape}", sample("<f4", shape)))
    for version in ((1, 0), (2, 0), (3, 0)):
        cases.append(numpy_case(f"version{version[0]}", sample("<f8", (4,)), version))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 65504.0, 1e-5], dtype="<f2")
    cases.append(numpy_case("float16-special", special))
    return cases


def npz_cases():
    cases = []
    arrays = {"a": sample("<f4", (3, 2)), "b": sample(">i4", (5,)), "mask": sample("bool", (2, 2)), "nested/x": sample("<f8", ())}
    for compressed in (False, True):
        stream = io.BytesIO()
        (np.savez_compressed if compressed else np.savez)(stream, **arrays)
        cases.append({
            "name": "compressed" if compressed else "stored",
            "file": stream.getvalue().hex(),
            "arrays": {name: [float(v).hex() for v in array.astype(np.float64).ravel()] for name, array in arrays.items()},
        })
    return cases


def safetensors_cases():
    cases = []
    kinds = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "bool", "c8")
    for name, tensors, metadata in (
        ("all-types", {f"t_{kind}": (np.arange(6) % 2).astype(kind).reshape(2, 3) for kind in kinds}, {"format": "np"}),
        ("empty", {}, None),
        ("only-metadata", {}, {"key": "value"}),
        ("scalar", {"s": np.array(2.5, dtype="f4")}, None),
        ("zero-size", {"z": np.zeros((0, 3), "f4"), "y": np.zeros((2, 0), "f4"), "x": np.ones(2, "f4")}, None),
        ("odd-names", {'quote"back\\slash': np.ones(1, "u1"), "tab\tnew\nline": np.ones(2, "u1"), "ü€😀": np.ones(3, "u1"), "": np.ones(1, "i8")}, {"ключ\x01": "значение\"\\"}),
    ):
        data = safetensors.numpy.save(tensors, metadata=metadata)
        cases.append({
            "name": name,
            "file": data.hex(),
            "metadata": metadata or {},
            "tensors": {key: {"shape": list(value.shape), "bytes": value.tobytes().hex()} for key, value in tensors.items()},
        })
    return cases


def csv_cases():
    """Rows of text written by Python's csv module; the reader must give the same cells."""
    random.seed(11)
    cases = []
    alphabet = ["a", "Z", "7", " ", '"', ",", "\n", "é", "€", "'", "x y", "\r\n"]
    for _ in range(40):
        columns, rows = random.randint(1, 5), random.randint(1, 8)
        header = [f"name {c}" for c in range(columns)]
        table = [["t" + "".join(random.choices(alphabet, k=random.randint(0, 8))) + "e" for _ in range(columns)] for _ in range(rows)]
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator=random.choice(["\n", "\r\n"]), quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        writer.writerow(header)
        writer.writerows(table)
        cases.append({"text": stream.getvalue(), "header": header, "rows": table})
    return cases


def number_cases():
    """Decimal texts and their doubles by Python's correctly rounded float()."""
    random.seed(5)
    texts = ["0", "-0", "+5", "1.", ".5", "-.5e1", "1e22", "1e23", "9007199254740993", "9007199254740992.5", "1e-400",
             "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "123456789012345678901234567890",
             "0.1", "0.30000000000000004", "1E5", "1e+5", "000012.50", "0.000000000000000000000000000001"]
    for _ in range(300):
        value = struct.unpack("<d", random.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            texts.append(repr(value))
    for _ in range(300):
        digits = "".join(random.choices("0123456789", k=random.randint(1, 25)))
        point = random.randint(0, len(digits))
        texts.append(random.choice(["", "-"]) + digits[:point] + "." + digits[point:])
    return [[text, float(text).hex()] for text in texts]


def write(name, content):
    (HERE / name).write_text(json.dumps(content, ensure_ascii=True, indent=0) + "\n")


write("numpy.json", {"npy": numpy_cases(), "npz": npz_cases()})
write("safetensors.json", safetensors_cases())
write("csv.json", {"tables": csv_cases(), "numbers": number_cases()})
