"""The readers, and the writer of .npz, against NumPy, safetensors and Python's float and csv on random files, whole and damaged.

Needs the test program `io_dump`: MODEWISE_BUILD names the build folder (build/ by default). MODEWISE_ORACLE_FILES
sets how many random files a format gets.
"""

import csv
import io
import json
import os
import pathlib
import random
import subprocess
import zipfile

import pytest

from programs import ROOT, built

np = pytest.importorskip("numpy")
safetensors_numpy = pytest.importorskip("safetensors.numpy")

PROGRAM = built("io_dump")
FILES = int(os.environ.get("MODEWISE_ORACLE_FILES", "300"))


@pytest.fixture
def ours(tmp_path):
    """A function from format and file content to what our reader answers."""
    process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    path = tmp_path / "file"

    def ask(format_, content):
        path.write_bytes(content)
        process.stdin.write(f"{format_}\t{path}\n".encode())
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    assert process.wait(timeout=10) == 0


def random_array(rng):
    shape = tuple(rng.integers(0, 5, rng.integers(0, 4)))
    kind = rng.choice(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "b1"])
    raw = rng.integers(0, 2 if kind == "b1" else 256, int(np.prod(shape)) * int(kind[1]), dtype=np.uint8)
    array = raw.view(np.dtype(rng.choice(["<", ">"]) + kind)).reshape(shape)
    return np.asfortranarray(array) if rng.random() < 0.5 else array


def dumped(array):
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    return {"dtype": array.dtype.newbyteorder("=").name, "shape": list(array.shape), "bytes": little.tobytes().hex()}


def damaged(content, rng):
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        what = rng.integers(0, 4)
        at = int(rng.integers(0, max(len(content), 1)))
        if what == 0 and content:
            content[at] = int(rng.integers(0, 256))
        elif what == 1:
            del content[at:at + int(rng.integers(1, 4))]
        elif what == 2:
            content[at:at] = bytes(rng.choice(list(b'0123456789,:[]{}()" \x00'), int(rng.integers(1, 3))).tolist())
        elif content:
            content[at] ^= 1 << int(rng.integers(0, 8))
    return bytes(content)


def numpy_load(content):
    """The array that NumPy reads, None if it refuses."""
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # noqa: BLE001 - NumPy raises many kinds
        return None


def test_npy_values_agree(ours):
    rng = np.random.default_rng(1)
    for _ in range(FILES):
        array = random_array(rng)
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array, version=[None, (1, 0), (2, 0), (3, 0)][rng.integers(0, 4)])
        assert ours("npy", stream.getvalue()) == dumped(array)


def test_npy_accepts_nothing_that_numpy_refuses(ours):
    rng = np.random.default_rng(2)
    accepted = 0
    for _ in range(FILES):
        stream = io.BytesIO()
        np.save(stream, random_array(rng))
        content = damaged(stream.getvalue(), rng)
        answer = ours("npy", content)
        if "error" in answer:
            continue
        accepted += 1
        array = numpy_load(content)
        assert array is not None, content
        assert answer == dumped(array), content
    assert accepted > 0


def test_npz_values_agree(ours):
    rng = np.random.default_rng(3)
    for _ in range(FILES // 3):
        arrays = {f"name {i}": random_array(rng) for i in range(rng.integers(0, 4))}
        stream = io.BytesIO()
        (np.savez_compressed if rng.random() < 0.5 else np.savez)(stream, **arrays)
        assert ours("npz", stream.getvalue()) == {name: dumped(array) for name, array in arrays.items()}


def test_npz_is_written_as_zipfile_and_numpy_read_it(ours, tmp_path):
    rng = np.random.default_rng(8)
    for _ in range(FILES // 3):
        arrays = {f"name {i}": random_array(rng) for i in range(rng.integers(0, 4))}
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        assert "error" not in ours("npz write", stream.getvalue())
        for copy, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
            path = tmp_path / f"file.{copy}.npz"
            with zipfile.ZipFile(path) as archive:
                assert archive.testzip() is None  # the checksums
                assert all(member.compress_type == method for member in archive.infolist())
            with np.load(path) as loaded:
                assert {name: dumped(loaded[name]) for name in loaded.files} == {name: dumped(array) for name, array in arrays.items()}


def random_tensors(rng):
    kinds = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "bool"]
    names = ["w", "bias", "é", 'a"b', "x\\y", "layer.0.weight", "layer.1.weight"]
    return {
        name: rng.integers(0, 2, tuple(rng.integers(0, 4, rng.integers(0, 3)))).astype(rng.choice(kinds))
        for name in rng.choice(names, rng.integers(0, 5), replace=False)
    }


def test_safetensors_values_agree(ours):
    rng = np.random.default_rng(4)
    for _ in range(FILES):
        tensors = random_tensors(rng)
        answer = ours("safetensors", safetensors_numpy.save(tensors, metadata={"k": "v"}))
        assert answer["metadata"] == {"k": "v"}
        assert answer["tensors"].keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert answer["tensors"][name]["shape"] == list(tensor.shape)
            assert answer["tensors"][name]["bytes"] == tensor.tobytes().hex()


def test_safetensors_accepts_nothing_that_the_reference_refuses(ours):
    rng = np.random.default_rng(5)
    accepted = 0
    for _ in range(FILES * 3):
        content = damaged(safetensors_numpy.save(random_tensors(rng), metadata={"k": "v"}), rng)
        answer = ours("safetensors", content)
        if "error" in answer:
            continue
        accepted += 1
        if any(tensor["dtype"] not in safetensors_numpy._TYPES for tensor in answer["tensors"].values()):
            continue  # types that NumPy does not have
        tensors = safetensors_numpy.load(content)
        assert {name: tensor["bytes"] for name, tensor in answer["tensors"].items()} == {
            name: tensor.tobytes().hex() for name, tensor in tensors.items()
        }
    assert accepted > 0


def test_csv_numbers_agree(ours):
    random.seed(6)
    for _ in range(FILES // 3):
        columns, rows = random.randint(1, 6), random.randint(1, 20)
        form = random.choice(["{!r}", "{:.3f}", "{:e}", " {:+.1f}", "{:.20g}"])
        table = [[random.gauss(0, 10.0 ** random.randint(-6, 9)) for _ in range(columns)] for _ in range(rows)]
        texts = [[form.format(value) if random.random() < 0.9 else random.choice(["", "NA", "nan"]) for value in row] for row in table]
        texts[0] = [form.format(value) for value in table[0]]
        stream = io.StringIO(newline="")
        delimiter = random.choice(",;\t|")
        writer = csv.writer(stream, delimiter=delimiter, lineterminator=random.choice(["\n", "\r\n"]), quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        header = [f"column_{c}" for c in range(columns)]
        writer.writerow(header)
        # A blank line of one column would be skipped as an empty line.
        if columns == 1:
            texts = [[text or "NA" for text in row] for row in texts]
        writer.writerows(texts)
        answer = ours("csv", stream.getvalue().encode())
        assert [column["name"] for column in answer] == header
        for c, column in enumerate(answer):
            assert column["kind"] == 0
            for row, cell in enumerate(column["cells"]):
                text = texts[row][c].strip()
                if text in ("", "NA", "nan"):
                    assert cell in ("nan", "-nan")
                else:
                    assert float.fromhex(cell) == float(text)


def random_ts(rng):
    """Cases of random series, and a .ts file of them in one of the ways in which they are written."""
    dimensions, classes = int(rng.integers(1, 4)), ["a", "B", "3", "x-y"][:int(rng.integers(1, 5))]
    equal = rng.random() < 0.5
    lengths = [int(rng.integers(1, 8))] * 5 if equal else rng.integers(1, 8, 5).tolist()
    cases = [np.where(rng.random((dimensions, n)) < 0.1, np.nan, rng.normal(0, 10.0**rng.integers(-4, 6), (dimensions, n))) for n in lengths]
    labels = rng.integers(0, len(classes), 5).tolist()
    form = rng.choice(["{:.4f}", "{:e}", "{!r}", " {:.2f} "])
    header = ["@problemName Random", "@timestamps false", "@univariate " + str(dimensions == 1).lower(), "@missing true",
              "@classLabel true " + " ".join(classes), "@equalLength " + str(equal).lower()]
    header += [f"@dimensions {dimensions}"] if dimensions > 1 else []
    header += [f"@seriesLength {lengths[0]}"] if equal else []
    header = ["@" + (line[1:].upper() if rng.random() < 0.3 and "class" not in line and "problem" not in line else line[1:]) for line in header]
    write = lambda x: "?" if np.isnan(x) else form.format(float(x))
    lines = [":".join(",".join(map(write, row)) for row in case) + ":" + classes[label] for case, label in zip(cases, labels)]
    end = rng.choice(["\n", "\r\n"])
    text = end.join(["# comment", *rng.permutation(header).tolist(), "@data", *lines, ""])
    values = np.concatenate([np.array([float("nan") if np.isnan(x) else float(write(x)) for x in case.ravel()]) for case in cases])
    return text.encode(), {"dimensions": dimensions, "classes": classes, "labels": labels, "lengths": lengths, "values": values.astype("<f4")}


def test_ts_values_agree(ours):
    rng = np.random.default_rng(7)
    for _ in range(FILES):
        content, wanted = random_ts(rng)
        answer = ours("ts", content)
        values = np.frombuffer(bytes.fromhex(answer.pop("values")), "<f4")
        assert np.array_equal(values, wanted.pop("values"), equal_nan=True)
        assert answer == wanted


def random_arff(rng):
    """A table of numeric attributes and one of classes, in one of the ways in which ARFF is written."""
    steps, rows, classes = int(rng.integers(1, 8)), 5, ["a", "B2", "3", "x-y"][:int(rng.integers(1, 5))]
    quote = lambda text: f"'{text}'" if rng.random() < 0.3 else text
    values = np.where(rng.random((rows, steps)) < 0.1, np.nan, rng.normal(0, 10.0**rng.integers(-4, 6), (rows, steps)))
    form = rng.choice(["{:.4f}", "{:e}", "{!r}"])
    last = rng.random() < 0.8
    header = [f"@attribute {quote(f't{i}')} {rng.choice(['numeric', 'REAL', 'Integer'])}" for i in range(steps)]
    header.insert(steps if last else 0, "@attribute target {" + rng.choice([",", ", "]).join(map(quote, classes)) + "}")
    lines = []
    for row in values:
        cells = ["?" if np.isnan(x) else form.format(float(x)) for x in row]
        cells.insert(steps if last else 0, str(rng.choice(classes)))
        lines.append(",".join(cells))  # scipy takes spaces and quotes around a class as parts of it
    return rng.choice(["\n", "\r\n"]).join(["% comment", "@relation r", *header, "@data", *lines, ""])


def test_arff_values_agree_with_scipy(ours):
    """A case ends with its last value, as in the archives; what scipy gives is cut there."""
    arff = pytest.importorskip("scipy.io.arff")
    rng = np.random.default_rng(11)
    for _ in range(FILES):
        text = random_arff(rng)
        table, meta = arff.loadarff(io.StringIO(text))
        rows = np.array([[float(row[name]) for name in meta.names() if name != "target"] for row in table])
        if np.isnan(rows).all(1).any():
            assert "the sample has no values" in ours("arff", text.encode())["error"]
            continue
        lengths = [np.flatnonzero(~np.isnan(row))[-1] + 1 for row in rows]
        answer = ours("arff", text.encode())
        values = np.frombuffer(bytes.fromhex(answer["values"]), "<f4")
        assert np.array_equal(values, np.concatenate([row[:n] for row, n in zip(rows, lengths)]).astype("<f4"), equal_nan=True)
        assert answer["dimensions"] == 1 and answer["lengths"] == lengths
        assert tuple(answer["classes"]) == meta["target"][1]
        assert [answer["classes"][label] for label in answer["labels"]] == [row["target"].decode() for row in table]


def test_ts_reads_the_archive_as_plain_python_does(ours):
    folder = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data")) / "uea"
    if not folder.exists():
        pytest.skip("the real data of ../shared/data is not here")
    paths = sorted(folder.glob("*/*.ts"))
    assert paths
    for path in paths:
        lines = [line for line in path.read_text().splitlines() if line and line[0] not in "#@"]
        cases = [line.split(":") for line in lines]
        answer = ours("ts", path.read_bytes())
        values = np.concatenate([np.array(part.split(","), float) for case in cases for part in case[:-1]])
        assert np.array_equal(np.frombuffer(bytes.fromhex(answer["values"]), "<f4"), values.astype("<f4"))
        assert [answer["classes"][label] for label in answer["labels"]] == [case[-1] for case in cases]
