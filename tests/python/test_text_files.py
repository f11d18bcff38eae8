"""Texts as people save them: `train language` reads texts, and refuses or warns of what is none."""

import gzip
import json
import zipfile

import numpy as np
import pytest

import modewise
from modewise import errors
from cli_helpers import fails, ok

PROSE = "\n".join(f"The {animal} went home over hill {number}, because it was late." for number in range(40) for animal in ("cat", "dog", "crow"))
SMALL = ["--set", "model.context=64", "--set", "model.width=16", "--set", "model.layers=1", "--set", "train.max_steps=1", "--set", "output.report=false",
         "--no-test", "--threads", "1"]  # fmt: skip


def command(path, *options):
    return ["train", "language", "--data", path, "--out", path.parent / "run", "--overwrite", *SMALL, *options]


def rows(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects).encode()


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", PROSE)
    return path.read_bytes()


def npy(path):
    np.save(path, np.arange(100.0))
    return path.read_bytes()


def safetensors_file(path):
    from safetensors.numpy import save_file

    save_file({"x": np.arange(100.0)}, path)
    return path.read_bytes()


BINARY = {
    "docx": (zipped, "a ZIP archive"),
    "npy": (npy, "a NumPy .npy file"),
    "safetensors": (safetensors_file, "a safetensors file"),
    "gz": (lambda _: gzip.compress(PROSE.encode()), "a gzip file"),
    "png": (lambda _: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "a PNG image"),
    "jpg": (lambda _: b"\xff\xd8\xff\xe0" + bytes(range(256)) * 9, "a JPEG image"),
    "pdf": (lambda _: b"%PDF-1.7\n" + PROSE.encode(), "a PDF document"),
    "parquet": (lambda _: b"PAR1\x15" + PROSE.encode() + b"PAR1", "a Parquet file"),
    "tar": (lambda _: b"a.txt".ljust(257, b"0") + b"ustar\x0000" + PROSE.encode(), "a tar archive"),
    "pickle": (lambda _: b"\x80\x04\x95" + PROSE.encode(), "a Python pickle"),
    "nul": (lambda _: PROSE.encode() + b"\0", f"NUL at byte {len(PROSE)}: not a text file"),
    "controls": (lambda _: b"\x01\x02\x03abcdefgh" * 100, "more than 5 % of it are control characters"),
    "utf-16le": (lambda _: PROSE.encode("utf-16-le"), "seems to be UTF-16 without a byte order mark"),
    "utf-16be": (lambda _: PROSE.encode("utf-16-be"), "seems to be UTF-16 without a byte order mark"),
    "utf-32": (lambda _: PROSE.encode("utf-32"), "NUL"),
    "list": (lambda _: json.dumps([{"text": PROSE}]).encode(), "got a JSON list"),
    "pretty list": (lambda _: json.dumps([PROSE, PROSE], indent=1).encode(), "got a JSON list"),
}


@pytest.mark.parametrize("ending", ["txt", "jsonl", None])
@pytest.mark.parametrize("kind", BINARY)
def test_what_is_no_text_is_refused_by_its_content(tmp_path, kind, ending):
    make, words = BINARY[kind]
    path = tmp_path / f"file.{ending or kind.replace(' ', '_')}"
    content = make(tmp_path / f"made.{kind}")
    path.write_bytes(content)
    fails(65, f"{path}: ", words, arguments=command(path))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text(PROSE)
    path.rename(folder / path.name)
    fails(65, f"{folder / path.name}: ", words, arguments=command(folder))
    assert not (tmp_path / "run").exists()


def test_any_bytes_are_trained_on_if_they_are_allowed(tmp_path):
    path = tmp_path / "image.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
    fails(65, "train and tokenize take its bytes with --allow-binary", arguments=command(path))
    ok(*command(path, "--allow-binary"))
    assert json.loads((tmp_path / "run" / "data.json").read_text())["train"]["bytes"] > 2000
    ok("tokenize", path, "--out", tmp_path / "t.safetensors", "--allow-binary")
    fails(65, "a PNG image", arguments=["tokenize", path, "--out", tmp_path / "u.safetensors"])
    with pytest.raises(errors.DataError, match="a PNG image"):
        modewise.LanguageModel(settings={"train.max_steps": 1}).fit(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_with_a_mark_is_converted(tmp_path, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "plain.txt").write_text(PROSE + "naïve 雨 🌍")
    (tmp_path / "wide.txt").write_bytes((mark + PROSE + "naïve 雨 🌍").encode(encoding))
    tokens = [ok("tokenize", tmp_path / name, "--out", tmp_path / f"{name}.safetensors", "--json").stdout for name in ("plain.txt", "wide.txt")]
    assert [json.loads(one)["bytes"] for one in tokens] == [len((PROSE + "naïve 雨 🌍").encode())] * 2
    (tmp_path / "lines.jsonl").write_bytes((mark + rows({"text": PROSE}, {"text": PROSE}).decode()).encode(encoding))
    assert json.loads(ok("tokenize", tmp_path / "lines.jsonl", "--out", tmp_path / "l.safetensors", "--json").stdout)["documents"] == 2


LINES = {
    "null": (rows({"text": "a"}, {"text": None}), ":2: the field 'text' is null, not a text; remove the line"),
    "number": (rows({"text": "a"}, {"text": 3}), ":2: the field 'text' is of type number, not a text; set the field of the text with --text-field"),
    "chat": (rows({"messages": [{"role": "user", "content": "a"}]}), ":1: the object is a chat ('messages'), which is not read"),
    "other": (rows({"body": "a", "id": 3, "title": "b"}),
              ":1: the object has no text field 'text' (set data.text_field, --text-field); its texts are 'body', 'title'"),
    "none": (rows({"id": 3}), "none of its fields is a text"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_json_lines_without_a_text_are_named(tmp_path, name):
    content, words = LINES[name]
    (tmp_path / "x.jsonl").write_bytes(content)
    fails(65, words, arguments=command(tmp_path / "x.jsonl"))


def test_the_field_of_json_lines(tmp_path):
    content = rows(*({"body": line, "text": "no"} for line in PROSE.splitlines()))
    for name, note in (("x.jsonl", False), ("x.json", True), ("x.txt", True)):
        (tmp_path / name).write_bytes(content)
        said = ok(*command(tmp_path / name, "--text-field", "body"))
        assert ("is read as JSON lines" in said.stderr) == note
        described = json.loads((tmp_path / "run" / "data.json").read_text())
        assert described["train"]["documents"] + described["validation"]["documents"] + described["test"]["documents"] >= 108
    by_key = ok(*command(tmp_path / "x.jsonl", "--set", "data.text_field=body"))
    assert "no text" not in by_key.stderr
    model = ok("evaluate", tmp_path / "run", "--data", tmp_path / "x.jsonl", "--lengths", 32, "--text-field", "text", "--json").stdout
    assert json.loads(model)["perplexity"]["results"][0]["tokens"] < 1000


@pytest.mark.parametrize("name, content, words", [
    ("t.csv", "id,text\n" + "\n".join(f"{i},hello {i}" for i in range(200)), "is a table: its delimiters and numbers are used as text"),
    ("t.txt", "\n".join(f"{i};\"hello; you\";{i}" for i in range(200)), "is a table"),
    ("latin1.txt", "caf\xe9 " * 200, "is not UTF-8; the bytes are used as they are"),
    ("one.json", json.dumps({"a": ["hello"] * 200}, indent=1), "is a JSON document; its characters are used as text"),
])  # fmt: skip
def test_warnings(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content.encode("latin1"))
    assert words in ok(*command(tmp_path / name)).stderr


@pytest.mark.parametrize("content", [PROSE, "\ufeff" + PROSE, PROSE.replace("\n", "\r\n"), "[Illustration]\n" + PROSE + "\n[The end]", "# Title, one\n\n" + PROSE])
def test_prose_is_read_without_a_word(tmp_path, content):
    (tmp_path / "x.txt").write_text(content)
    said = ok(*command(tmp_path / "x.txt")).stderr
    assert not [word for word in ("table", "JSON", "UTF-8") if word in said]


def test_a_mix_of_texts_is_trained_on(tmp_path):
    """Its tokens are the bytes of whole documents, counted here from the file."""
    from safetensors.numpy import load_file

    (tmp_path / "a.jsonl").write_bytes(rows(*({"text": f"cat {i} " * (5 + i % 3)} for i in range(60))))
    (tmp_path / "b.jsonl").write_bytes(rows(*({"text": f"dog {i} " * (2 + i % 9)} for i in range(400))))
    mix = tmp_path / "mix.safetensors"
    made = ["tokenize", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--shares", "3,1", "--minimum-words", 9, "--out", mix]
    printed = json.loads(ok(*made, "--json").stdout)
    tensors = load_file(mix)
    text, ends = tensors["tokens"].astype(np.uint8).tobytes().decode(), tensors["documents"]
    documents = [text[begin:end] for begin, end in zip(ends, ends[1:])]
    wanted = {name: {json.loads(line)["text"] for line in (tmp_path / f"{name}.jsonl").open()} for name in "ab"}
    assert len(set(documents)) == len(documents) and min(len(one.split()) for one in documents) >= 8  # lm-eval counts one more
    for name, animal, counts in zip("ab", ("cat", "dog"), printed["texts"], strict=True):
        own = [one for one in documents if one.startswith(animal)]
        assert wanted[name].issuperset(own) and counts["documents"] == len(own) and counts["tokens"] == sum(map(len, own))
    tokens = [counts["tokens"] for counts in printed["texts"]]
    assert printed["texts"][0]["documents"] == 60 and abs(tokens[0] / 3 - tokens[1]) < max(map(len, documents))
    ok(*command(mix))
    fails(2, "need --out FILE", arguments=["tokenize", tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    fails(2, "3 shares for 2 texts: each text needs one", arguments=[*made[:4], "1,2,3", "--out", tmp_path / "x.safetensors"])
