"""The readers and writers of PNG and JPEG against Pillow, which has libraries of its own built in.

Needs the test program `io_dump` as test_io_oracle.py does.
"""

import io
import json
import subprocess

import pytest

from programs import built

np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
features = pytest.importorskip("PIL.features")

PROGRAM = built("io_dump")
SIZES = [(1, 1), (1, 7), (17, 1), (3, 5), (31, 33), (65, 127)]


@pytest.fixture
def ours():
    """A function from request and path to what our reader answers."""
    process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(request, path, refused=False):
        process.stdin.write(f"{request}\t{path}\n".encode())
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert refused == ("error" in answer), answer
        return answer["error"] if refused else answer

    yield ask
    process.stdin.close()
    assert process.wait(timeout=10) == 0


def pixels_of(answer):
    return np.frombuffer(bytes.fromhex(answer["pixels"]), np.uint8).reshape(answer["shape"])


def theirs(path):
    """Pixels that Pillow decodes, upright, as one channel or three."""
    with Image.open(path) as image:
        upright = ImageOps.exif_transpose(image)
        pixels = np.asarray(upright if upright.mode == "L" else upright.convert("RGB"))
    return pixels.reshape(*pixels.shape[:2], -1)


def scene(rng, height, width, channels):
    """Waves and noise: something of every frequency."""
    y, x, c = np.mgrid[:height, :width, :channels]
    wave = 128 + 80 * np.sin(y / 5 + c) * np.cos(x / 7 - c) + rng.normal(0, 12, y.shape)
    return np.clip(wave, 0, 255).astype(np.uint8)


def image_of(rng, mode, height, width):
    if mode == "P":
        return Image.fromarray(scene(rng, height, width, 3), "RGB").quantize(int(rng.integers(2, 256)))
    if mode == "1":
        return Image.fromarray(scene(rng, height, width, 1)[..., 0]).convert("1")
    if mode == "I;16":
        return Image.fromarray(rng.integers(0, 65536, (height, width)).astype(np.uint16))
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    pixels = scene(rng, height, width, channels)
    return Image.fromarray(pixels[..., 0] if channels == 1 else pixels, mode)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_pillow_writes_png_we_read(ours, tmp_path, mode):
    rng = np.random.default_rng([1, len(mode), ord(mode[0])])
    for case, (height, width) in enumerate(SIZES):
        path = tmp_path / f"{case}.png"
        image = image_of(rng, mode, height, width)
        options = {"compress_level": int(rng.integers(0, 10)), "optimize": bool(rng.integers(0, 2))}
        if mode in ("P", "L", "RGB") and rng.random() < 0.5:
            options["transparency"] = {"P": 0, "L": 7, "RGB": (1, 2, 3)}[mode]
        if rng.random() < 0.7:
            exif = Image.Exif()
            exif[0x0112] = int(rng.integers(1, 9))
            options["exif"] = exif
        image.save(path, **options)
        expected = theirs(path)
        if mode in ("1", "LA"):
            expected = expected[..., :1]
        np.testing.assert_array_equal(pixels_of(ours("image", path)), expected)


def test_pillow_writes_16_bits_we_round(ours, tmp_path):
    rng = np.random.default_rng(2)
    for case, (height, width) in enumerate(SIZES):
        path = tmp_path / f"{case}.png"
        image = image_of(rng, "I;16", height, width)
        image.save(path)
        expected = np.floor(np.asarray(image).astype(np.int64) / 257 + 0.5)
        np.testing.assert_array_equal(pixels_of(ours("image", path))[..., 0], expected)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
def test_pillow_writes_jpeg_we_read(ours, tmp_path, mode, progressive):
    """Equal to the last bit: both have libjpeg-turbo, whose slow transform and upsampling are exact integer work."""
    assert features.check("libjpeg_turbo")
    rng = np.random.default_rng([3, len(mode), progressive])
    for case, (height, width) in enumerate(SIZES + [(200, 301)]):
        for quality in (20, 75, 96):
            path = tmp_path / f"{case}.jpg"
            options = {"quality": quality, "progressive": progressive, "optimize": bool(rng.integers(0, 2))}
            if mode == "RGB":
                options |= {"keep_rgb": True} if rng.random() < 0.2 else {"subsampling": int(rng.integers(0, 3))}
            if rng.random() < 0.3:
                options["restart_marker_blocks"] = int(rng.integers(1, 9))
            if rng.random() < 0.7:
                exif = Image.Exif()
                exif[0x010F], exif[0x0112] = "maker", int(rng.integers(1, 9))
                options["exif"] = exif
            image_of(rng, mode, height, width).save(path, **options)
            np.testing.assert_array_equal(pixels_of(ours("image", path)), theirs(path))


@pytest.mark.parametrize("channels", [1, 3])
def test_we_write_pillow_reads(ours, tmp_path, channels):
    rng = np.random.default_rng([4, channels])
    for case, (height, width) in enumerate(SIZES):
        path = tmp_path / f"{case}.png"
        pixels = scene(rng, height, width, channels)
        image = Image.fromarray(pixels[..., 0] if channels == 1 else pixels)
        image.save(path)
        quality = int(rng.integers(1, 101))
        ours(f"image write {quality}", path)
        np.testing.assert_array_equal(theirs(f"{path}.png"), pixels)
        # JPEG written by Pillow at this quality decodes to the same pixels.
        stream = io.BytesIO()
        image.save(stream, "JPEG", quality=quality)
        np.testing.assert_array_equal(theirs(f"{path}.jpg"), theirs(stream))


@pytest.mark.parametrize("filter_", ["bilinear", "box", "fitted"])
def test_sizes_are_within_a_level_of_pillow(ours, tmp_path, filter_):
    """Pillow rounds to 8 bits between its two passes; ours rounds once."""
    rng = np.random.default_rng([5, len(filter_)])
    for height, width in SIZES:
        path = tmp_path / "a.png"
        image = image_of(rng, "RGB", height, width)
        image.save(path)
        for new_height, new_width in [(1, 1), (7, 5), (32, 32), (33, 65)]:
            got = pixels_of(ours(f"image {filter_} {new_height} {new_width}", path)).astype(int)
            if filter_ == "fitted":
                expected = ImageOps.fit(image, (new_width, new_height), Image.Resampling.BILINEAR)
            else:
                expected = image.resize((new_width, new_height), Image.Resampling[filter_.upper()])
            assert np.abs(got - np.asarray(expected)).max() <= 1


@pytest.mark.parametrize("format_", ["png", "jpg"])
def test_what_is_cut_off_is_refused(ours, tmp_path, format_):
    rng = np.random.default_rng(6)
    path = tmp_path / f"a.{format_}"
    image_of(rng, "RGB", 31, 33).save(path)
    whole = path.read_bytes()
    for length in rng.integers(0, len(whole), 60):
        path.write_bytes(whole[:length])
        assert str(path) in ours("image", path, refused=True)
