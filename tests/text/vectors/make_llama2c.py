"""Freezes results of llama2.c's own encode and decode: python make_llama2c.py RUN_C TOK512_BIN, where RUN_C is run.c of
github.com/karpathy/llama2.c, which is compiled here with a small program around it."""

import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

AROUND = r"""
#define TESTING
#include "%s"
int main(int argc, char** argv) {
  Tokenizer tokenizer;
  build_tokenizer(&tokenizer, argv[1], atoi(argv[2]));
  static char hex[1 << 20], text[1 << 19];
  static int ids[1 << 20];
  while (scanf("%%1048575s", hex) == 1) {  /* 'x' and the text in hexadecimal */
    int bytes = (strlen(hex) - 1) / 2, count = 0;
    for (int i = 0; i < bytes; ++i) { unsigned value; sscanf(hex + 1 + 2 * i, "%%2x", &value); text[i] = (char)value; }
    text[bytes] = 0;
    encode(&tokenizer, text, 0, 0, ids, &count);
    for (int i = 0; i < count; ++i) printf("%%d ", ids[i]);
    printf("\n");
    int previous = 1;
    printf("x");
    for (int i = 0; i < count; ++i) {
      for (char* piece = decode(&tokenizer, previous, ids[i]); *piece; ++piece) printf("%%02x", (unsigned char)*piece);
      previous = ids[i];
    }
    printf("\n");
  }
}
"""


def ask(program, tokenizer, size, texts):
    lines = "".join("x" + text.hex() + "\n" for text in texts)
    answer = subprocess.run([program, tokenizer, str(size)], input=lines, capture_output=True, text=True, check=True)
    rows = answer.stdout.splitlines()
    return [{"text": text.hex(), "ids": [int(i) for i in ids.split()], "decoded": decoded[1:]}
            for text, ids, decoded in zip(texts, rows[::2], rows[1::2], strict=True)]


def small_tokenizer():
    """Tied scores, a word with several possible merges, pieces with spaces."""
    pieces = [(b"<unk>", 0.0), (b"\n<s>\n", 0.0), (b"\n</s>\n", 0.0)]
    pieces += [(f"<0x{byte:02X}>".encode(), 0.0) for byte in range(256)]
    pieces += [(piece.encode(), score) for piece, score in [
        (" ", -50), ("a", -51), ("b", -52), ("c", -53), ("é", -54), ("€", -55), ("ab", -1), ("bc", -1), ("abc", -3),
        (" a", -2), ("aa", -4), ("aaa", -5), ("aaaa", -4), ("  ", -6), ("    ", -7), ("bé", -2.5), ("c €", -2), ("c ", -9),
        ("ca", -1e11), ("bb", -0.0), ("ñc", -1)]]
    longest = max(len(text) for text, _ in pieces)
    return struct.pack("<i", longest) + b"".join(struct.pack("<fi", score, len(text)) + text for text, score in pieces), len(pieces)


TEXTS = [t if isinstance(t, bytes) else t.encode() for t in [
    "", " ", "  ", "a", "abc", "abcabc", " abc", "aaaaaaa aaaa", "cab", "caca bb bbb", "    a", "bé€ñ", "c €c €", "ñc", "日本語", "a\nb\tc",
    "Once upon a time, there was a little girl named Lily.", "the quick brown fox", "He said: \"It's mine!\"", "naïve café",
    b"\xff\xfe", b"\x80\x80\x80\x80\x80a", b"\xe2\x82", b"a\xc3b", b"\xf0\x9f\x98\x80!", b"\xc3\xa9\xa9\xa9\xa9\xa9", "▁a", "<s>", "<0x41>"]]


def main():
    run_c, tok512 = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    rng = random.Random(1)
    texts = TEXTS + ["".join(rng.choice("aaabbbccc  é€ñ") for _ in range(rng.randint(1, 120))).encode() for _ in range(30)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "around.c").write_text(AROUND % run_c)
        subprocess.run(["gcc", "-O1", "-w", "-o", folder / "around", folder / "around.c", "-lm"], check=True)
        content, size = small_tokenizer()
        (folder / "small.bin").write_bytes(content)
        vectors = {"small": {"file": content.hex(), "cases": ask(folder / "around", folder / "small.bin", size, texts)},
                   "tok512": {"cases": ask(folder / "around", tok512, 512, TEXTS)}}
    out = pathlib.Path(__file__).with_name("llama2c.json")
    out.write_text(json.dumps(vectors, indent=0, separators=(",", ":")).replace(",\n", ",").replace("[\n", "[").replace("\n]", "]") + "\n")


main()
