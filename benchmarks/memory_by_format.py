"""Peak memory of reading a file, by format: above that of a tiny file of the same kind, beside the bound.

  python benchmarks/memory_by_format.py [--formats nii,ts] [--megabytes 1,10,100] [--markdown]

The bound is twice the file plus 64 MiB; for compressed volumes and images 512 MiB or 32 times the file more, which they may
unpack to. The worst file of a format has the content that takes most memory: black images, samples of one step, words of one
letter. It may be refused (exit code 65). $MODEWISE_BUILD: build folder of the program.
"""

import argparse
import gzip
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("MODEWISE_BUILD", ROOT / "build")) / "bin" / "modewise"
MIB = 2**20
TINY = 20_000

# The peak of a process includes that of the one that started it, so a small process starts the program.
STARTER = """
import json, os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
errors = child.stderr.read()
_, status, usage = os.wait4(child.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, errors.decode(errors="replace"), usage.ru_utime + usage.ru_stime]))
"""


def peak(arguments):
    """Exit code, peak resident bytes, stderr and processor seconds of the program."""
    # glibc's MALLOC_PERTURB_ would touch memory that is only reserved.
    environment = {key: value for key, value in os.environ.items() if key != "MALLOC_PERTURB_"}
    started = subprocess.run([sys.executable, "-S", "-E", "-c", STARTER, PROGRAM, *map(str, arguments)], env=environment,
                             stdout=subprocess.PIPE, check=True)
    return json.loads(started.stdout)


def noise(shape, dtype=np.uint8):
    return np.random.default_rng(1).integers(0, 120, shape).astype(dtype)


def new_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def repeated(text, size):
    return text * max(size // len(text), 1)


# Volumes

def nifti(path, values, slope=1.0):
    """A NIfTI-1 file of voxels of 1 mm."""
    codes = {"uint8": 2, "int16": 4, "float32": 16, "float64": 64}
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, values.ndim, *values.shape, *[1] * (7 - values.ndim))
    struct.pack_into("<hh", header, 70, codes[str(values.dtype)], 8 * values.itemsize)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 0, 0, 0, 0)
    struct.pack_into("<fff", header, 108, 352, slope, 0)
    struct.pack_into("<h", header, 254, 1)
    struct.pack_into("<12f", header, 280, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    header[344:348] = b"n+1\0"
    content = bytes(header) + values.tobytes(order="F")
    path.write_bytes(gzip.compress(content, 6) if path.suffix == ".gz" else content)


def volumes(folder, size, dtype, slope=1.0, ending=".nii", black=False):
    """Four volumes of two classes, with `size` bytes together: compressed, if `ending` is .nii.gz."""
    side = max(int((size / 4 / np.dtype(dtype).itemsize) ** (1 / 3)), 4)
    if black:  # deflate takes a thousandth
        side = min(int((size / 4 * 1000) ** (1 / 3)), 640)
    for i in range(4):
        file = folder / "ab"[i % 2] / f"{i}{ending}"
        file.parent.mkdir(exist_ok=True)
        if i > 0:
            shutil.copy(folder / "a" / f"0{ending}", file)
        else:
            nifti(file, np.zeros([side] * 3, dtype) if black else noise([side] * 3, dtype), slope)
    return [folder]


def medmnist(folder, size, black=False):
    count = max(size * (300 if black else 1) // 28**3, 20)
    images = np.zeros([count, 28, 28, 28], np.uint8) if black else noise([count, 28, 28, 28])
    cuts = [0, count * 7 // 10, count * 8 // 10, count]
    arrays = {}
    for name, begin, end in zip(["train", "val", "test"], cuts, cuts[1:]):
        arrays[f"{name}_images"], arrays[f"{name}_labels"] = images[begin:end], (np.arange(end - begin) % 2)[:, None]
    (np.savez_compressed if black else np.savez)(folder / "set.npz", **arrays)
    return [folder / "set.npz", "--task", "classify-volumes"]


def npy_volumes(folder, size, dtype, fortran=False):
    count = max(size // 20**3 // np.dtype(dtype).itemsize, 20)
    images = noise([count, 20, 20, 20], dtype)
    np.save(folder / "set.npy", np.asfortranarray(images) if fortran else images)
    np.save(folder / "set_labels.npy", np.arange(count) % 2)
    return [folder / "set.npy", "--task", "classify-volumes"]


# Images

def scene(folder, size, ending, black=False, **changes):
    """A scene of 4 bands and its mask."""
    side = min(max(int((size * (200 if black else 1) / 4) ** 0.5), 128), 20_000)
    bands = np.zeros([side, side, 4], np.uint8) if black else noise([side, side, 4])
    y, x = np.ogrid[:side, :side]
    mask = ((x // 16 + y // 16) % 3).astype(np.uint8)
    if ending == "npy":
        np.save(folder / "scene.npy", np.asfortranarray(bands))
        np.save(folder / "mask.npy", mask)
    else:
        import rasterio
        for name, values in (("scene", bands), ("mask", mask[:, :, None])):
            with rasterio.open(folder / f"{name}.tif", "w", driver="GTiff", width=side, height=side, count=values.shape[2],
                               dtype="uint8", interleave="pixel", **changes) as file:
                file.write(values.transpose(2, 0, 1))
    return [folder / f"scene.{ending}", "--task", "segment", "--set", f"data.masks={folder}/mask.{ending}"]


def tiles(folder, size):
    """Images of 128 x 128 pixels with masks, uint8."""
    for name in ("images", "masks"):
        (folder / name).mkdir()
    bands = noise([128, 128, 4])
    mask = (np.mgrid[:128, :128][1] // 16 % 3).astype(np.uint8)
    for i in range(max(size // bands.nbytes, 12)):
        np.save(folder / "images" / f"{i}.npy", bands)
        np.save(folder / "masks" / f"{i}.npy", mask)
    return [folder / "images", "--task", "segment", "--set", f"data.masks={folder}/masks"]


def cifar(folder, size):
    count = max(size // 3073 // 6, 20)
    records = noise([count, 3073])
    records[:, 0] = np.arange(count) % 10
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        (folder / f"{name}.bin").write_bytes(records.tobytes())
    return [folder]


def png(pixels):
    """PNG of grey [h, w] or colour [h, w, 3] pixels."""
    color = pixels.ndim == 3
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros([height, 1], np.uint8), pixels.reshape(height, -1)], 1)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if color else 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def jpeg(pixels):
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=90)
    return out.getvalue()


def image_folder(folder, size, content, ending):
    """Copies of one image in two class folders, at most 40,000."""
    for i in range(min(max(size // len(content), 20), 40_000)):
        file = folder / "ab"[i % 2] / f"{i}.{ending}"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    return [folder]


# Series

def ts(folder, size, steps):
    cells = ",".join(["1"] * steps)
    lines = [f"{cells}:{'ab'[i % 2]}\n" for i in range(2)]
    (folder / "s_TRAIN.ts").write_text("@problemName s\n@timeStamps false\n@univariate true\n@equalLength true\n"
                                       f"@seriesLength {steps}\n@classLabel true a b\n@data\n" + repeated("".join(lines), size))
    (folder / "s_TEST.ts").write_text((folder / "s_TRAIN.ts").read_text()[:160 + 20 * len(lines[0])].rsplit("\n", 1)[0] + "\n")
    return [folder / "s_TRAIN.ts"]


def arff(folder, size, steps):
    cells = ",".join(["1"] * steps)
    head = "@relation s\n" + "".join(f"@attribute a{i} numeric\n" for i in range(steps)) + "@attribute class {a,b}\n@data\n"
    (folder / "s.arff").write_text(head + repeated(f"{cells},a\n{cells},b\n", max(size, 40 * len(cells))))
    return [folder / "s.arff", "--task", "classify-series"]


def ucr(folder, size, steps):
    cells = "\t".join(["1.5"] * steps)
    for part, lines in (("TRAIN", max(size, 40 * len(cells))), ("TEST", 40 * len(cells))):
        (folder / f"s_{part}.tsv").write_text(repeated(f"1\t{cells}\n2\t{cells}\n", lines))
    return [folder / "s_TRAIN.tsv", "--task", "classify-series"]


# Tables and arrays of forecasters

def table(folder, size, worst):
    if worst:
        (folder / "t.csv").write_text(repeated("1,2,3\n", max(size, 6 * 2000)))
        return [folder / "t.csv"]
    rows = max(size // 60, 1000)
    dates = np.datetime_as_string(np.datetime64("2000-01-01T00:00") + np.arange(rows))
    lines = [f"{date.replace('T', ' ')},12.345,-1.234,987.654,0.001,5.5,north" for date in dates]
    (folder / "t.csv").write_text("date,a,b,c,d,e,region\n" + "\n".join(lines) + "\n")
    return [folder / "t.csv"]


def long_table(folder, size, worst):
    days = np.datetime_as_string(np.datetime64("2010-01-01") + np.arange(1000))
    value = "1" if worst else "-12.345"
    block = "".join(f"S{{0}},{day},{value}\n" for day in days)
    (folder / "t.csv").write_text("unique_id,ds,y\n" + "".join(block.format(i) for i in range(max(size // len(block), 2))))
    return [folder / "t.csv", "--set", f"data.panel={'no' if worst else 'yes'}"]


def array(folder, size, name, worst):
    values = noise([max(size // (10 if worst else 40), 2000), 10], np.uint8 if worst else np.float32)
    if name == "t.npz":
        (np.savez_compressed if worst else np.savez)(folder / name, values=values * (0 if worst else 1) + values % 2)
    else:
        np.save(folder / name, np.asfortranarray(values) if worst else values)
    return [folder / name, "--task", "forecast"]


def csv_folder(folder, size, worst):
    for i in range(10):
        part = new_folder(folder / "part")
        table(part, max(size // 10, 12000), worst)
        (part / "t.csv").rename(folder / f"{i}.csv")
        part.rmdir()
    return [folder]


# Texts

PROSE = "It was the best of times, it was the worst of times, it was the age of wisdom.\n"


def labelled_lines(folder, size, worst):
    for name, count in (("train", size), ("dev", TINY), ("test", TINY)):
        record = '{"text":"a","label":%d}\n' if worst else '{"text": "' + PROSE.strip() + '", "label": %d}\n'
        (folder / f"{name}.jsonl").write_text(repeated(record % 0 + record % 1, count))
    return [folder, "--task", "text", "--set", "tokenizer=bytes"]


def labelled_table(folder, size, worst):
    for name, count in (("train", size), ("dev", TINY), ("test", TINY)):
        text = "a" if worst else PROSE.strip().replace(",", ";")
        (folder / f"{name}.csv").write_text("text,label\n" + repeated(f"{text},0\n{text},1\n", count))
    return [folder, "--task", "text", "--set", "tokenizer=bytes"]


def corpus(folder, size, worst):
    (folder / "c.txt").write_text(repeated("a b\n\n" if worst else PROSE, size))
    return [folder / "c.txt", "--task", "language", "--set", "tokenizer=bytes", *(["--set", "data.separator=blank"] if worst else [])]


def corpus_lines(folder, size, worst):
    (folder / "c.jsonl").write_text(repeated('{"text":"a"}\n' if worst else json.dumps({"text": PROSE}) + "\n", size))
    return [folder / "c.jsonl", "--task", "language", "--set", "tokenizer=bytes"]


def tokens(folder, size, worst):
    corpus(folder, max(size // (4 if worst else 2), 1000), worst)
    subprocess.run([PROGRAM, "tokenize", "-q", "--tokenizer", "bytes", folder / "c.txt", "--out", folder / "t.safetensors",
                    *(["--separator", "blank"] if worst else [])], check=True, stdout=subprocess.DEVNULL)
    return [folder / "t.safetensors", "--task", "language", "--set", "tokenizer=bytes"]


def captions(folder, size, worst):
    (folder / "images").mkdir()
    count = max(size // (130 if worst else 400), 20)
    content = png(noise([16, 16]))
    for i in range(10):
        (folder / "images" / f"{i}.png").write_bytes(content)
    caption = "a" if worst else PROSE.strip() * 3
    images = [{"id": i, "file_name": f"{i}.png"} for i in range(10)]
    notes = "".join(f',{{"image_id":{i % 10},"id":{i},"caption":"{caption}"}}' for i in range(count))
    (folder / "c.json").write_text(f'{{"images":{json.dumps(images)},"annotations":[{notes[1:]}]}}')
    return [folder / "c.json", "--set", f"data.images={folder}/images", "--set", "data.size=16"]


# Weights and tokenizers

def weights(folder, size, worst):
    """A language model of bytes; worst: with a tensor of one element per 100 bytes."""
    width = 64
    layers = 1 if worst else max(size // 4 // (12 * width * width), 1)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 258, "hidden_size": width,
              "intermediate_size": 8 * width // 3, "num_hidden_layers": layers, "num_attention_heads": 4, "num_key_value_heads": 4,
              "hidden_act": "silu", "rms_norm_eps": 1e-5, "max_position_embeddings": 128, "tie_word_embeddings": True,
              "rope_theta": 10000.0}
    shapes = {"model.embed_tokens.weight": (258, width), "model.norm.weight": (width,)}
    wide = config["intermediate_size"]
    for i in range(layers):
        parts = {"input_layernorm": (width,), "post_attention_layernorm": (width,), "mlp.gate_proj": (wide, width),
                 "mlp.up_proj": (wide, width), "mlp.down_proj": (width, wide)}
        parts |= {f"self_attn.{name}_proj": (width, width) for name in "qkvo"}
        shapes |= {f"model.layers.{i}.{name}.weight": shape for name, shape in parts.items()}
    if worst:
        shapes |= {f"x{i}": (1,) for i in range(size // 75)}
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(end))
    (folder / "config.json").write_text(json.dumps(config))
    return ["convert", folder, folder / "out"]


def words(size, letters):
    """Different words of `letters` letters, about `size` bytes of them."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(alphabet[i // 26**k % 26] for k in range(letters)) for i in range(max(size // (letters + 1), 300))]


def vocabulary(folder, size, worst):
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words(size, 4 if worst else 8)]) + "\n")
    (folder / "text.txt").write_text(PROSE)
    return ["tokenize", "--tokenizer", folder / "vocab.txt", folder / "text.txt", "--count"]


def tokenizer_json(folder, size, worst):
    names = words(size * 4 // (12 if worst else 16) // 2 * 2, 4 if worst else 8)
    vocabulary = {chr(c): i for i, c in enumerate(range(97, 123))} | {name: 26 + i for i, name in enumerate(names)}
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {
        "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}, "post_processor": None, "decoder": {
        "type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, "model": model}))
    (folder / "text.txt").write_text(PROSE)
    return ["tokenize", "--tokenizer", folder / "tokenizer.json", folder / "text.txt", "--count"]


def sentencepiece(folder, size, worst):
    def field(number, content):
        return bytes([number << 3 | 2]) + (bytes([len(content)]) if len(content) < 128 else bytes([len(content) & 127 | 128, len(content) >> 7])) + content

    pieces = [("<unk>", 2), ("<s>", 3), ("</s>", 3)] + [(word, 1) for word in words(size * 5 // 16, 4) if worst] + [
        (word, 1) for word in words(size * 9 // 20, 8) if not worst]
    content = b"".join(field(1, field(1, name.encode()) + b"\x15" + struct.pack("<f", -1) + b"\x18" + bytes([kind])) for name, kind in pieces)
    (folder / "t.model").write_bytes(content + field(2, b"\x18\x01"))
    (folder / "text.txt").write_text(PROSE)
    return ["tokenize", "--tokenizer", folder / "t.model", folder / "text.txt", "--count"]


# name: (the file or folder that is read, plain and worst: function of folder and bytes)
FORMATS = {
    "nii": ("", lambda f, n: volumes(f, n, "int16"), lambda f, n: volumes(f, n, "uint8", 0.1)),
    "nii.gz": ("", lambda f, n: volumes(f, n, "int16", 1, ".nii.gz"), lambda f, n: volumes(f, n, "uint8", 0.1, ".nii.gz", True)),
    "npz of volumes": ("set.npz", medmnist, lambda f, n: medmnist(f, n, True)),
    "npy of volumes": ("set.npy", lambda f, n: npy_volumes(f, n, "float32"), lambda f, n: npy_volumes(f, n, "uint8", True)),
    "GeoTIFF": ("", lambda f, n: scene(f, n, "tif", tiled=True), lambda f, n: scene(f, n, "tif", True, compress="deflate", blockysize=4096)),
    "npy of scenes": ("", lambda f, n: scene(f, n, "npy"), tiles),
    "CIFAR-10": ("", cifar, cifar),
    "png": ("", lambda f, n: image_folder(f, n, png(noise([64, 64])), "png"),
            lambda f, n: image_folder(f, n, png(np.zeros([1024, 1024, 3], np.uint8)), "png")),
    "jpeg": ("", lambda f, n: image_folder(f, n, jpeg(noise([256, 256, 3])), "jpg"),
             lambda f, n: image_folder(f, n, jpeg(np.zeros([1024, 1024], np.uint8)), "jpg")),
    "ts": ("", lambda f, n: ts(f, n, 100), lambda f, n: ts(f, n, 1)),
    "arff": ("", lambda f, n: arff(f, n, 100), lambda f, n: arff(f, n, 1)),
    "UCR table": ("", lambda f, n: ucr(f, n, 100), lambda f, n: ucr(f, n, 1)),
    "csv": ("", lambda f, n: table(f, n, False), lambda f, n: table(f, n, True)),
    "long csv": ("", lambda f, n: long_table(f, n, False), lambda f, n: long_table(f, n, True)),
    "folder of csv": ("", lambda f, n: csv_folder(f, n, False), lambda f, n: csv_folder(f, n, True)),
    "npy": ("", lambda f, n: array(f, n, "t.npy", False), lambda f, n: array(f, n, "t.npy", True)),
    "npz": ("", lambda f, n: array(f, n, "t.npz", False), lambda f, n: array(f, n, "t.npz", True)),
    "jsonl of labelled texts": ("", lambda f, n: labelled_lines(f, n, False), lambda f, n: labelled_lines(f, n, True)),
    "csv of labelled texts": ("", lambda f, n: labelled_table(f, n, False), lambda f, n: labelled_table(f, n, True)),
    "text": ("", lambda f, n: corpus(f, n, False), lambda f, n: corpus(f, n, True)),
    "jsonl of texts": ("", lambda f, n: corpus_lines(f, n, False), lambda f, n: corpus_lines(f, n, True)),
    "token file": ("t.safetensors", lambda f, n: tokens(f, n, False), lambda f, n: tokens(f, n, True)),
    "captions": ("c.json", lambda f, n: captions(f, n, False), lambda f, n: captions(f, n, True)),
    "safetensors": ("", lambda f, n: weights(f, n, False), lambda f, n: weights(f, n, True)),
    "vocab.txt": ("", lambda f, n: vocabulary(f, n, False), lambda f, n: vocabulary(f, n, True)),
    "tokenizer.json": ("", lambda f, n: tokenizer_json(f, n, False), lambda f, n: tokenizer_json(f, n, True)),
    "sentencepiece": ("", lambda f, n: sentencepiece(f, n, False), lambda f, n: sentencepiece(f, n, True)),
}


UNPACKED = ("nii.gz", "npz of volumes", "png", "jpeg", "npz")  # content of another size than the file


def bytes_of(path):
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def bound_of(name, size):
    return 2 * size + 64 * MIB + (max(512 * MIB, 32 * size) if name in UNPACKED else 0)


def measured(folder, name, worst, size):
    """Bytes of the file, peak above that of a tiny one, exit code and the last line of stderr."""
    file, make = FORMATS[name][0], FORMATS[name][2 if worst else 1]
    used, code = [], 0
    for one in (TINY, size):
        arguments = make(new_folder(folder), one)
        read = bytes_of(folder / file)
        command = arguments if arguments[0] in ("convert", "tokenize") else ["data", "show", *arguments]
        code, memory, errors, _ = peak(command)
        if code != 0 and not (code == 65 and one == size):
            raise SystemExit(f"{name}: {' '.join(map(str, command))}: exit code {code}: {errors}")
        used.append(memory)
    shutil.rmtree(folder)
    return read, used[1] - used[0], code, errors.strip().rsplit("\n", 1)[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", default=",".join(FORMATS), help=f"names separated by commas: {', '.join(FORMATS)}")
    parser.add_argument("--megabytes", default="1,10,100", help="sizes of the files in MB (default 1,10,100)")
    parser.add_argument("--files", choices=["plain", "worst", "both"], default="both")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    options = parser.parse_args()
    bar = " | " if options.markdown else "  "
    heads = ["format", "file", "MB", "peak, MiB", "bound, MiB", "used", ""]
    print(bar.join(heads))
    if options.markdown:
        print("|".join(["---"] * len(heads)))
    above = 0
    with tempfile.TemporaryDirectory(prefix="memory_by_format_") as folder:
        for name in options.formats.split(","):
            for worst in (False, True):
                if options.files == ("plain" if worst else "worst"):
                    continue
                for megabytes in map(float, options.megabytes.split(",")):
                    size, used, code, said = measured(pathlib.Path(folder) / "files", name, worst, int(megabytes * 1e6))
                    bound = bound_of(name, size)
                    above += used > bound
                    remark = ("ABOVE " if used > bound else "") + (f"refused: {said[:90]}" if code else "")
                    print(bar.join([f"{name:24}", "worst" if worst else "plain", f"{size / 1e6:6.1f}", f"{used / MIB:6.0f}",
                                    f"{bound / MIB:6.0f}", f"{100 * used / bound:4.0f} %", remark.strip()]), flush=True)
    raise SystemExit(1 if above else 0)


if __name__ == "__main__":
    main()
