"""Small files and texts that made commands run for hours: work follows the size of what is read. The time limits are
generous (a second or less is needed) and only end a command that would not."""
import json
import struct

import pytest

from cli_helpers import modewise


LIMIT = 120  # seconds


def byte_letters():
    """GPT-2's letters for the 256 bytes."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in kept]
    return {**{byte: chr(byte) for byte in kept}, **{byte: chr(256 + i) for i, byte in enumerate(rest)}}


def write_tokenizer_json(path, pattern=r"\s+|\S+", added=()):
    vocabulary = {letter: byte for byte, letter in byte_letters().items()}
    tokens = [{"id": 256 + i, "content": content, "single_word": False, "lstrip": True, "rstrip": True, "normalized": False, "special": True}
              for i, content in enumerate(added)]
    splits = [{"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
              {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
    path.write_text(json.dumps({
        "version": "1.0", "added_tokens": tokens, "normalizer": None, "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits},
        "post_processor": None, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocabulary, "merges": []}}))
    return path


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def write_sentencepiece(path, pieces, algorithm):
    """`pieces`: text, score, type (1 normal, 2 unknown, 4 user defined)."""
    content = b"".join(message(1, message(1, text.encode()) + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([kind]))
                       for text, score, kind in pieces)
    path.write_bytes(content + message(2, b"\x18" + bytes([algorithm])) + message(3, message(1, b"identity") + b"\x18\x00\x20\x00\x28\x01"))
    return path


def tokenize(tokenizer, text, folder):
    path = folder / "text.txt"
    path.write_text(text)
    return modewise("tokenize", "--tokenizer", tokenizer, path, timeout=LIMIT)


def test_a_pattern_that_goes_back_and_forth(tmp_path):
    tokenizer = write_tokenizer_json(tmp_path / "tokenizer.json", r"(?:ab?)*(?:ab?)*[0-9]")
    result = tokenize(tokenizer, "ab" * 8000, tmp_path)
    assert result.returncode == 65
    last = result.stderr.strip().splitlines()[-1]
    for words in (str(tokenizer), "the pattern '(?:ab?)*(?:ab?)*[0-9]' gives up on the text from byte 0 on", "128 per byte"):
        assert words in last
    assert tokenize(tokenizer, "ab" * 20 + "7", tmp_path).returncode == 0


def test_an_added_space_that_strips_both_sides(tmp_path):
    tokenizer = write_tokenizer_json(tmp_path / "tokenizer.json", added=[" "])
    result = tokenize(tokenizer, "a" + " " * 100_000 + "b" + " " * 100_000, tmp_path)
    assert result.stdout.split() == ["97", *["256"] * 100_000, "98", *["256"] * 100_000]


@pytest.mark.parametrize("algorithm", [1, 2], ids=["unigram", "bpe"])
@pytest.mark.parametrize("kind", [1, 4], ids=["normal", "user_defined"])
def test_a_long_piece(tmp_path, algorithm, kind):
    pieces = [("<unk>", 0, 2), ("a", -1, 1), ("b", -1, 1), ("a" * 4095 + "b", -2, kind)]
    tokenizer = write_sentencepiece(tmp_path / "tokenizer.model", pieces, algorithm)
    result = tokenize(tokenizer, "a" * 200_000 + "ab", tmp_path)
    # The long piece ends the text where it is found as a whole; pairs never grow to it.
    whole = (200_001 - 4095) * ["1"] + ["3"]
    assert result.stdout.split() == (200_001 * ["1"] + ["2"] if (algorithm, kind) == (2, 1) else whole)


def write_llama2c(path, context):
    width, hidden, layers, heads, vocabulary = 8, 16, 1, 4, 257
    floats = layers * width * 2 + width + vocabulary * width + layers * (4 * width * width + 3 * width * hidden)
    header = struct.pack("<2i7i?", 0x616b3432, 1, width, hidden, layers, heads, heads, vocabulary, context, True)
    path.write_bytes(header.ljust(256, b"\0") + struct.pack(f"<{floats}f", *([0.01] * floats)))
    return path


def test_a_context_that_only_a_header_declares(tmp_path):
    model = write_llama2c(tmp_path / "model.bin", 300_000_000)
    result = modewise("convert", model, tmp_path / "out.bin", timeout=LIMIT)
    assert result.returncode == 65
    for words in ("rotary tables for each position of the context", "300000000 positions take 2400000000 bytes"):
        assert words in result.stderr
    assert not (tmp_path / "out.bin").exists()
    assert modewise("convert", model, tmp_path / "out.bin", "--llama2c-version", "1", timeout=LIMIT).returncode == 0
    assert (tmp_path / "out.bin").read_bytes() == model.read_bytes()
    assert modewise("convert", write_llama2c(tmp_path / "small.bin", 300), tmp_path / "small_out.bin", timeout=LIMIT).returncode == 0
    passkeys = modewise("evaluate", model, "--passkey", "--tokenizer", "bytes", timeout=LIMIT)
    assert passkeys.returncode == 2
    assert "300000000 tokens" in passkeys.stderr
