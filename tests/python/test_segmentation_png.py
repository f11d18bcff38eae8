"""PNG and JPEG images and PNG masks of segmentation: what is read equals what Pillow and GDAL read. Drives $MODEWISE_BUILD/bin/modewise."""
import json
import struct
import zlib

import numpy as np
import pytest

from cli_helpers import fails, ok
from test_segmentation import label_map
from test_segmentation_files import ONE_EPOCH

Image = pytest.importorskip("PIL.Image")
rasterio = pytest.importorskip("rasterio")

SIDE = 96


def scene(bands, dtype=np.uint8, scale=1):
    """An image [96, 96, bands] and its classes 0 to 2."""
    labels = label_map(SIDE)
    random = np.random.default_rng(11)
    spectra = random.uniform(60, 190, (3, bands))
    return (np.clip(spectra[labels] + random.normal(0, 10, (SIDE, SIDE, bands)), 1, 255) * scale).astype(dtype), labels.astype(np.uint8)


def train(folder, image, mask, *options):
    ok("train", "segment", "--data", folder / image, "--masks", folder / mask, *ONE_EPOCH, *options, "--out", folder / "run")
    return folder / "run"


def class_map(run, image, folder):
    """The map of `image` by the run, [h, w]."""
    ok("predict", run, "--data", image, "--out", folder / "map.npy", "--overwrite")
    return np.load(folder / "map.npy")


def class_pixels(mask, image):
    """Labelled pixels of each class id that `data show` finds in a mask."""
    shown = json.loads(ok("data", "show", image, "--task", "segment", "--set", f"data.masks={mask}", "--set", "data.window=32", "--set", "data.guard=0",
                          "--json").stdout)  # fmt: skip
    return {one["id"]: sum(split["pixels"][i] for split in shown["splits"].values()) for i, one in enumerate(shown["classes"])}


def counts(mask, ignored=()):
    return {int(i): int(n) for i, n in zip(*np.unique(mask, return_counts=True)) if i not in ignored}


@pytest.mark.parametrize("kind", ["rgb", "grey", "grey-16", "palette", "grey-4", "jpeg"])
def test_images_have_the_numbers_that_pillow_reads(tmp_path, kind):
    rgb, labels = scene(3)
    np.save(tmp_path / "mask.npy", labels)
    name = tmp_path / ("image.jpg" if kind == "jpeg" else "image.png")
    if kind == "grey-16":
        deep = scene(1, np.uint16, 200)[0][..., 0]
        Image.fromarray(deep).save(name)
    else:
        made = {"rgb": lambda: Image.fromarray(rgb), "grey": lambda: Image.fromarray(rgb[..., 0]), "jpeg": lambda: Image.fromarray(rgb),
                "palette": lambda: Image.fromarray(rgb).quantize(17), "grey-4": lambda: Image.fromarray(rgb[..., 0] // 16 * 17)}[kind]()  # fmt: skip
        made.save(name, **({"bits": 4} if kind == "grey-4" else {}))
    with Image.open(name) as image:
        expected = np.array(image.convert("RGB") if image.mode == "P" else image)
    np.save(tmp_path / "image.npy", expected)
    run = train(tmp_path, "image.npy", "mask.npy")
    assert (class_map(run, name, tmp_path) == class_map(run, tmp_path / "image.npy", tmp_path)).all()
    json_of = [json.loads(ok("evaluate", run, "--data", one, "--masks", tmp_path / "mask.npy", "--split", "all", "--json").stdout)
               for one in (name, tmp_path / "image.npy")]  # fmt: skip
    assert json_of[0] == json_of[1]


def test_masks_are_palette_indices_or_grey_levels_as_stored(tmp_path):
    image, labels = scene(2)
    np.save(tmp_path / "image.npy", image)
    ids = np.array([3, 7, 250], np.uint8)[labels]
    indexed = Image.fromarray(ids, "P")
    indexed.putpalette(np.random.default_rng(1).integers(0, 256, 768).astype(np.uint8).tobytes())
    indexed.save(tmp_path / "palette.png")
    indexed.save(tmp_path / "transparent.png", transparency=7)
    Image.fromarray(ids).save(tmp_path / "grey.png")
    Image.fromarray(np.repeat(ids[..., None], 3, 2)).save(tmp_path / "grey_rgb.png")
    for name in ("palette", "transparent", "grey", "grey_rgb"):
        assert class_pixels(tmp_path / f"{name}.png", tmp_path / "image.npy") == counts(ids), name
    deep = np.array([300, 7, 65000], np.uint16)[labels]
    Image.fromarray(deep).save(tmp_path / "deep.png")
    assert class_pixels(tmp_path / "deep.png", tmp_path / "image.npy") == counts(deep)
    Image.fromarray(labels > 0).save(tmp_path / "bits.png")  # one bit
    assert class_pixels(tmp_path / "bits.png", tmp_path / "image.npy") == counts(labels > 0)
    two_bits = Image.fromarray(labels, "P")
    two_bits.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    two_bits.save(tmp_path / "two_bits.png", bits=2)
    assert class_pixels(tmp_path / "two_bits.png", tmp_path / "image.npy") == counts(labels)


def test_an_interlaced_mask_and_a_voc_border(tmp_path):
    image, labels = scene(2)
    np.save(tmp_path / "image.npy", image)
    labels[:5] = 255
    with rasterio.open(tmp_path / "mask.png", "w", driver="PNG", height=SIDE, width=SIDE, count=1, dtype="uint8", INTERLACE="YES") as f:
        f.write(labels, 1)
    assert class_pixels(tmp_path / "mask.png", tmp_path / "image.npy") == counts(labels, {255})


def test_transparent_pixels_are_without_data(tmp_path):
    rgb, labels = scene(3)
    Image.fromarray(labels).save(tmp_path / "mask.png")
    alpha = np.full((SIDE, SIDE), 255, np.uint8)
    Image.fromarray(np.dstack([rgb, alpha])).save(tmp_path / "opaque.png")
    run = train(tmp_path, "opaque.png", "mask.png")
    assert not json.loads((run / "data.json").read_text())["missing"]
    alpha[10:20, 30:70] = 0
    Image.fromarray(np.dstack([rgb, alpha])).save(tmp_path / "holes.png")
    result = json.loads(ok("predict", run, "--data", tmp_path / "holes.png", "--out", tmp_path / "map.npy", "--json").stdout)
    assert result["without_data"] == 400
    assert ((np.load(tmp_path / "map.npy") == result["nodata"]) == (alpha == 0)).all()


def write_tiles(folder, count, ending):
    for i in range(count):
        rgb, labels = scene(3)
        for kind in ("images", "masks"):
            (folder / kind).mkdir(exist_ok=True)
        Image.fromarray(np.roll(rgb, i, 0)[:64, :64]).save(folder / "images" / f"{i}.{ending}")
        Image.fromarray(np.roll(labels, i, 0)[:64, :64]).save(folder / "masks" / f"{i}.png")


@pytest.mark.parametrize("ending", ["png", "jpg", "JPEG"])
def test_folders_of_tiles(tmp_path, ending):
    write_tiles(tmp_path, 6, ending)
    run = train(tmp_path, "images", "masks")
    assert json.loads((run / "metrics.json").read_text())["test"]["pixels"] == 64 * 64
    ok("predict", run, "--data", tmp_path / "images", "--out", tmp_path / "maps")
    with rasterio.open(tmp_path / "maps" / "0.tif") as f:
        assert f.shape == (64, 64)


def test_previews_beside_geotiff_are_left_out(tmp_path):
    write_tiles(tmp_path, 6, "png")
    for i in range(6):
        for kind in ("images", "masks"):
            values = np.atleast_3d(np.array(Image.open(tmp_path / kind / f"{i}.png")))
            with rasterio.open(tmp_path / kind / f"{i}.tif", "w", driver="GTiff", height=64, width=64, count=values.shape[2], dtype="uint8") as f:
                f.write(values.transpose(2, 0, 1))
    shown = ok("data", "show", tmp_path / "images", "--task", "segment", "--set", f"data.masks={tmp_path / 'masks'}").stdout
    for kind in ("images", "masks"):
        assert f"{tmp_path / kind}: 6 PNG or JPEG images beside GeoTIFF or NPY images are left out" in shown
    assert json.loads(ok("data", "show", tmp_path / "images", "--task", "segment", "--set", f"data.masks={tmp_path / 'masks'}", "--json")
                      .stdout)["images"] == 6  # fmt: skip


def test_a_world_file_places_a_png(tmp_path):
    rgb, labels = scene(3)
    Image.fromarray(rgb).save(tmp_path / "image.png")
    Image.fromarray(labels).save(tmp_path / "mask.png")
    (tmp_path / "image.pgw").write_text("10\n0\n0\n-10\n300005\n4999995\n")
    run = train(tmp_path, "image.png", "mask.png")
    ok("predict", run, "--data", tmp_path / "image.png", "--out", tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as f, rasterio.open(tmp_path / "image.png") as image:
        assert f.transform.almost_equals(image.transform) and f.transform.c == 300000


def test_what_is_no_mask_is_refused(tmp_path):
    rgb, labels = scene(3)
    Image.fromarray(rgb).save(tmp_path / "image.png")
    Image.fromarray(rgb).save(tmp_path / "colours.png")
    Image.fromarray(labels * 40).save(tmp_path / "mask.jpg")
    Image.new("L", (9000, 9000)).save(tmp_path / "large.png")
    Image.new("L", (9000, 9000)).save(tmp_path / "large.jpg", quality=1)
    for width, height in ((2**31 - 1, 2**31 - 1), (1518500250, 1518500250)):  # the second: just above 2**64 bytes, at 8 a pixel
        header = struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)
        crc = struct.pack(">I", zlib.crc32(b"IHDR" + header))
        (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + header + crc + bytes(4) + b"IDAT" + bytes(4))
        fails(65, f"huge.png: a PNG of {height} x {width} pixels", arguments=["data", "show", tmp_path / "huge.png", "--task", "segment"])
    (tmp_path / "cut.png").write_bytes((tmp_path / "colours.png").read_bytes()[:900])

    def refused(mask, *words):
        fails(65, str(tmp_path / mask), *words, arguments=["train", "segment", "--data", tmp_path / "image.png", "--masks", tmp_path / mask])

    refused("colours.png", "a mask must have one band of class ids, got 3 bands; colours are not ids: save it with a palette, or as grey levels")
    refused("mask.jpg", "a JPEG changes the numbers of its pixels, so it cannot be a mask of class ids: give a PNG, GeoTIFF or NPY mask")
    refused("large.png", "a PNG of 9000 x 9000 pixels (height x width) takes 81", "more than twice the file's", "convert it to GeoTIFF")
    refused("cut.png", "cannot decode the PNG image")
    fails(65, "large.jpg: an image of 9000 x 9000 pixels", "convert it to GeoTIFF",
          arguments=["train", "segment", "--data", tmp_path / "large.jpg", "--masks", tmp_path / "large.png"])  # fmt: skip
