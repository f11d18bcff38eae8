"""Writes png_jpeg.json: small PNG and JPEG files made by Pillow, by a small PNG writer (zlib and a few lines here, for formats
that Pillow does not write) and by both, with the correct pixels. Run with Pillow and NumPy installed:

    python make_images.py
"""

import io
import json
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(17)
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def packed_rows(values, depth):
    """Filter "none" and the samples of each row, `depth` bits each. `values` is [height, width, samples]."""
    rows = b""
    for row in values.reshape(len(values), -1):
        if depth == 16:
            rows += b"\0" + row.astype(">u2").tobytes()
        else:
            bits = (row[:, None] >> np.arange(depth - 1, -1, -1)) & 1
            rows += b"\0" + np.packbits(bits.astype(np.uint8)).tobytes()
    return rows


def png(values, depth, color_type, extra=b"", interlaced=False):
    height, width = values.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    if interlaced:
        passes = [values[y::dy, x::dx] for y, x, dy, dx in ADAM7]
        rows = b"".join(packed_rows(part, depth) for part in passes if part.size)
    else:
        rows = packed_rows(values, depth)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def exif(orientation, order):
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)


def turned(pixels, orientation):
    """The pixels that Pillow reads from a separate file with the same orientation."""
    image = Image.fromarray(pixels)
    image.getexif()[274] = orientation
    return np.asarray(ImageOps.exif_transpose(image))


def case(name, content, pixels):
    pixels = np.asarray(pixels)
    assert pixels.dtype == np.uint8
    shape = list(pixels.shape) + [1] * (3 - pixels.ndim)
    return {"name": name, "file": content.hex(), "shape": shape, "pixels": pixels.tobytes().hex()}


def rounded_to_8(values, depth):
    return np.floor(values * 255 / (2**depth - 1) + 0.5).astype(np.uint8)


def png_cases():
    shape = (5, 7)
    for depth in (1, 2, 4, 8, 16):
        grey = rng.integers(0, 2**depth, (*shape, 1))
        for interlaced in (False, True):
            suffix = " interlaced" if interlaced else ""
            yield case(f"grey {depth}{suffix}", png(grey, depth, 0, interlaced=interlaced), rounded_to_8(grey, depth))
    for depth in (8, 16):
        for color_type, name, samples in ((2, "colors", 3), (4, "grey alpha", 2), (6, "colors alpha", 4)):
            values = rng.integers(0, 2**depth, (*shape, samples))
            kept = rounded_to_8(values[..., : 1 if samples == 2 else 3], depth)
            for interlaced in (False, True):
                suffix = " interlaced" if interlaced else ""
                yield case(f"{name} {depth}{suffix}", png(values, depth, color_type, interlaced=interlaced), kept)
    for depth in (1, 2, 4, 8):
        palette = rng.integers(0, 256, (2**depth, 3), dtype=np.uint8)
        indices = rng.integers(0, 2**depth, (*shape, 1))
        chunks = chunk(b"PLTE", palette.tobytes())
        yield case(f"palette {depth}", png(indices, depth, 3, chunks), palette[indices[..., 0]])
        chunks += chunk(b"tRNS", bytes([0, 128]))
        yield case(f"palette {depth} transparent", png(indices, depth, 3, chunks), palette[indices[..., 0]])
    grey = rng.integers(0, 256, (*shape, 1))
    yield case("grey transparent", png(grey, 8, 0, chunk(b"tRNS", struct.pack(">H", int(grey[0, 0, 0])))), grey.astype(np.uint8))
    colors = rng.integers(0, 256, (*shape, 3))
    transparent = chunk(b"tRNS", struct.pack(">HHH", *map(int, colors[0, 0])))
    yield case("colors transparent", png(colors, 8, 2, transparent), colors.astype(np.uint8))
    for orientation in range(1, 9):
        block = chunk(b"eXIf", exif(orientation, "<>"[orientation % 2]))
        pixels = turned(colors.astype(np.uint8), orientation)
        yield case(f"orientation {orientation}", png(colors, 8, 2, block), pixels)
        yield case(f"orientation {orientation} interlaced", png(colors, 8, 2, block, True), pixels)
    one = np.array([[[200, 3, 77]]])
    yield case("one pixel", png(one, 8, 2), one.astype(np.uint8))
    yield case("one pixel interlaced", png(one, 8, 2, interlaced=True), one.astype(np.uint8))
    described = chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"tEXt", b"Comment\0" + b"x" * 99) + chunk(b"zTXt", b"Long\0\0" + zlib.compress(bytes(9999)))
    yield case("described", png(colors, 8, 2, described), colors.astype(np.uint8))


def scene(height, width, channels):
    y, x, c = np.mgrid[:height, :width, :channels]
    return np.clip(128 + 90 * np.sin(y / 3 + c) * np.cos(x / 4 - c) + rng.normal(0, 6, y.shape), 0, 255).astype(np.uint8)


def jpeg(image, **options):
    stream = io.BytesIO()
    image.save(stream, "JPEG", **options)
    return stream.getvalue()


def jpeg_case(name, content):
    with Image.open(io.BytesIO(content)) as image:
        pixels = ImageOps.exif_transpose(image)
        return case(name, content, np.asarray(pixels if pixels.mode == "L" else pixels.convert("RGB")))


def inks(transform):
    """Pillow writes inverted CMYK, as Adobe does; the transform flag of the Adobe segment is CMYK (0) or YCCK (2)."""
    content = jpeg(Image.fromarray(scene(9, 13, 4), "CMYK"), quality=80)
    at = content.index(b"Adobe")
    return content[: at + 11] + bytes([transform]) + content[at + 12 :]


def jpeg_cases():
    colors, grey = Image.fromarray(scene(19, 21, 3)), Image.fromarray(scene(17, 15, 1)[..., 0])
    yield jpeg_case("grey", jpeg(grey, quality=85))
    yield jpeg_case("grey progressive", jpeg(grey, quality=85, progressive=True))
    for sampling, name in ((0, "4:4:4"), (1, "4:2:2"), (2, "4:2:0")):
        yield jpeg_case(f"colors {name}", jpeg(colors, quality=75, subsampling=sampling))
        yield jpeg_case(f"colors {name} progressive", jpeg(colors, quality=75, subsampling=sampling, progressive=True))
    yield jpeg_case("stored as colors", jpeg(colors, quality=90, keep_rgb=True))
    yield jpeg_case("restarts", jpeg(colors, quality=60, restart_marker_rows=1))
    yield jpeg_case("inks", inks(0))
    yield jpeg_case("inks YCCK", inks(2))
    yield jpeg_case("one pixel", jpeg(Image.fromarray(scene(1, 1, 3)), quality=75))
    for orientation in range(1, 9):
        block = b"Exif\0\0" + exif(orientation, "<>"[orientation % 2])
        yield jpeg_case(f"orientation {orientation}", jpeg(Image.fromarray(scene(6, 9, 3)), quality=90, exif=block))


def resize_cases():
    pixels = scene(13, 17, 3)
    for height, width in ((5, 7), (13, 17), (29, 33), (1, 1), (3, 31)):
        for filter_, name in ((Image.Resampling.BILINEAR, "bilinear"), (Image.Resampling.BOX, "box")):
            image = Image.fromarray(pixels).resize((width, height), filter_)
            yield {**case(name, b"", np.asarray(image)), "from": pixels.tobytes().hex(), "from_shape": list(pixels.shape)}
    for height, width in ((5, 7), (8, 3), (20, 20)):
        image = ImageOps.fit(Image.fromarray(pixels), (width, height), Image.Resampling.BILINEAR)
        yield {**case("fitted", b"", np.asarray(image)), "from": pixels.tobytes().hex(), "from_shape": list(pixels.shape)}


cases = {"png": list(png_cases()), "jpeg": list(jpeg_cases()), "resize": list(resize_cases())}
with open(HERE / "png_jpeg.json", "w") as file:
    file.write("{\n" + ",\n".join(f'"{kind}": [\n' + ",\n".join(json.dumps(entry) for entry in entries) + "\n]" for kind, entries in cases.items()) + "\n}\n")
