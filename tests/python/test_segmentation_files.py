"""Files that segmentation reads and writes: class maps of any ids, unlabelled pixels of other masks, axes of arrays. rasterio checks
them. Drives $MODEWISE_BUILD/bin/modewise."""
import json

import numpy as np
import pytest

from cli_helpers import fails, ok
from test_segmentation import QUICK, label_map, write_scene

rasterio = pytest.importorskip("rasterio")
from rasterio.transform import from_origin  # noqa: E402

ONE_EPOCH = [*QUICK, "--set", "train.epochs=1"]
PLACE = dict(driver="GTiff", crs="EPSG:32633", transform=from_origin(300000, 5000000, 10, 10))


def write_tiff(path, values, **options):
    """Writes [h, w] or [h, w, bands] as GeoTIFF."""
    values = np.atleast_3d(values)
    height, width, bands = values.shape
    with rasterio.open(path, "w", height=height, width=width, count=bands, dtype=values.dtype, **{**PLACE, **options}) as f:
        f.write(values.transpose(2, 0, 1))
    return path


def read_tiff(path):
    with rasterio.open(path) as f:
        return f.read().transpose(1, 2, 0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run whose masks have the ids 11, 41 and 90, and no unlabelled pixel; its image and mask."""
    folder = tmp_path_factory.mktemp("scenes")
    path, mask = write_scene(folder)
    ok("train", "segment", "--data", path, "--masks", mask, *ONE_EPOCH, "--out", folder / "run")
    return folder / "run", path, mask


@pytest.mark.parametrize("ids, dtype, nodata", [
    ((0, 1, 255), "uint8", 254),
    ((100, 300, 7000), "uint16", 65535),
    ((-5, 0, 7), "int16", -32768),
    ((100, 300, 70000), "int32", -2**31),
])  # fmt: skip
def test_a_map_has_the_class_ids_of_the_masks(tmp_path, ids, dtype, nodata):
    path, _ = write_scene(tmp_path, nodata=0)
    mask = write_tiff(tmp_path / "mask.tif", np.array(ids, dtype)[label_map(96)])
    classes = ["--set", "data.classes=list", "--set", f"data.class_ids={list(ids)}"] if 255 in ids else []
    ok("train", "segment", "--data", path, "--masks", mask, *ONE_EPOCH, *classes, "--out", tmp_path / "run")
    result = json.loads(ok("predict", tmp_path / "run", "--out", tmp_path / "map.tif", "--json").stdout)
    assert [one["id"] for one in result["classes"]] == list(ids) and result["nodata"] == nodata
    with rasterio.open(tmp_path / "map.tif") as f:
        values = f.read(1)
        assert f.dtypes == (dtype,) and f.nodata == nodata and f.transform == PLACE["transform"] and f.crs == PLACE["crs"]
    assert (values[10:20, 30:70] == nodata).all()
    counts = {one["id"]: one["pixels"] for one in result["classes"]} | {nodata: 400}
    assert {int(value): int(count) for value, count in zip(*np.unique(values, return_counts=True))} == {k: v for k, v in counts.items() if v}
    text = ok("predict", tmp_path / "run", "--out", tmp_path / "map.npy", "--overwrite").stdout
    array = np.load(tmp_path / "map.npy")
    assert array.dtype == dtype and (array == values).all()
    assert f"{ids[2]}" in text and "70,000" not in text


def test_a_run_ignores_what_other_masks_leave_unlabelled(trained, tmp_path):
    run, path, mask = trained
    ids = read_tiff(mask)[..., 0]

    def evaluated(values, name="other.tif", **options):
        write_tiff(tmp_path / name, values, **options)
        return ok("evaluate", run, "--data", path, "--masks", tmp_path / name, "--json")

    for unlabelled, options in ((255, {}), (255, {"nodata": 255}), (0, {"nodata": 0}), (77, {"nodata": 77})):
        other = ids.copy()
        other[:30] = unlabelled
        assert json.loads(evaluated(other, **options).stdout)["pixels"] == 66 * 96
    signed = ids.astype(np.int16)
    signed[:30] = -1
    assert json.loads(evaluated(signed).stdout)["pixels"] == 66 * 96
    signed[:30] = 77
    write_tiff(tmp_path / "other.tif", signed)
    fails(65, "row 0, column 0: class id 77 is not in the class map",
          arguments=["evaluate", run, "--data", path, "--masks", tmp_path / "other.tif"])  # fmt: skip
    assert "the nodata value 11 of the masks is a class of the run" in evaluated(ids, nodata=11).stderr


@pytest.mark.parametrize("change, bands", [
    (lambda image: image.astype(float) / 255, 4),
    (lambda image: image.astype(float) * 257, 4),
    (lambda image: image.astype(float) * [1, 1, 1000, 1], 1),
    (lambda image: image, 0),
    (lambda image: image // 3, 0),
    (lambda image: image * 0 + 1, 0),
])  # fmt: skip
def test_values_of_another_scale_are_a_warning(trained, tmp_path, change, bands):
    run, path, mask = trained
    write_tiff(tmp_path / "new.tif", change(read_tiff(path)).astype(np.float32))
    words = f"new.tif: {bands} of 4 bands plainly ha"
    for command in (["predict", run, "--out", tmp_path / "map.tif"], ["evaluate", run, "--masks", mask]):
        warned = ok(*command, "--data", tmp_path / "new.tif").stderr
        assert (words in warned) == (bands > 0) and warned.count("another scale") == (bands > 0)


def test_fill_values_of_new_images_are_a_warning(trained, tmp_path):
    run, path, _ = trained
    image = read_tiff(path).astype(np.float32)
    image[10:20, 30:70, 1] = -9999
    write_tiff(tmp_path / "new.tif", image)
    warned = ok("predict", run, "--data", tmp_path / "new.tif", "--out", tmp_path / "map.tif").stderr
    assert "new.tif: 400 pixels have -9999 in band 1, which usually stands for a missing value" in warned and "scale" not in warned
    write_tiff(tmp_path / "new.tif", image, nodata=-9999)
    result = ok("predict", run, "--data", tmp_path / "new.tif", "--out", tmp_path / "map.tif", "--overwrite", "--json")
    assert "-9999" not in result.stderr and json.loads(result.stdout)["without_data"] == 400


def masked_out(run, image, folder, *options):
    """Pixels without data in the map of `image`."""
    ok("predict", run, "--data", image, "--out", folder / "map.tif", "--overwrite", *options)
    with rasterio.open(folder / "map.tif") as f:
        return f.read(1) == f.nodata


@pytest.mark.parametrize("internal, options", [
    (True, {}),
    (True, dict(tiled=True, blockxsize=32, blockysize=48, compress="deflate", interleave="band")),
    (True, dict(blockysize=7, compress="lzw")),
    (False, {}),
])  # fmt: skip
def test_the_mask_of_a_tiff_marks_pixels_without_data(trained, tmp_path, internal, options):
    run, path, mask = trained
    valid = np.ones((96, 91), bool)
    valid[10:20, 30:91] = valid[50:, 3] = False
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=internal):
        with rasterio.open(tmp_path / "new.tif", "w", height=96, width=91, count=4, dtype="uint16", **PLACE, **options) as f:
            f.write(read_tiff(path)[:, :91].transpose(2, 0, 1))
            f.write_mask(valid)
    with rasterio.open(tmp_path / "new.tif") as f:
        assert (f.dataset_mask() > 0).tolist() == valid.tolist() and (tmp_path / "new.tif.msk").exists() != internal
    assert (masked_out(run, tmp_path / "new.tif", tmp_path) == ~valid).all()
    write_tiff(tmp_path / "new_mask.tif", read_tiff(mask)[:, :91])
    common = ["--data", tmp_path / "new.tif", "--masks", tmp_path / "new_mask.tif"]
    ok("train", "segment", *common, *ONE_EPOCH, "--out", tmp_path / "run")
    assert json.loads((tmp_path / "run" / "data.json").read_text())["missing"]


def test_a_mask_that_cannot_be_read_is_named(trained, tmp_path):
    run, path, _ = trained
    predict = ["predict", run, "--data", tmp_path / "new.tif", "--out", tmp_path / "map.tif"]
    words = "this is the mask of the image, which gdal_translate -mask none leaves out"
    write_tiff(tmp_path / "new.tif", read_tiff(path))
    write_tiff(tmp_path / "new.tif.msk", np.ones((95, 96), np.uint8), driver="GTiff")
    fails(65, "new.tif.msk: the mask does not have the size of its image, 96 x 96 pixels", words, arguments=predict)
    write_tiff(tmp_path / "new.tif.msk", np.ones((96, 96, 2), np.uint8))
    fails(65, "new.tif.msk: ", "a mask must have one band, got 2", words, arguments=predict)
    (tmp_path / "new.tif.msk").write_text("none")
    fails(65, "new.tif.msk: not a TIFF image", words, arguments=predict)


@pytest.mark.parametrize("ending", ["tfw", "tifw", "wld"])
def test_a_world_file_places_an_image_without_a_georeference(trained, tmp_path, ending):
    run, path, _ = trained
    write_tiff(tmp_path / "new.tif", read_tiff(path), crs=None, transform=None)
    place = rasterio.Affine(8, 3, 500000, 3, -8, 5300000)
    lines = [place.a, place.d, place.b, place.e, place.c + (place.a + place.b) / 2, place.f + (place.d + place.e) / 2]
    (tmp_path / f"new.{ending}").write_text("\n".join(f"{x:.10f}" for x in lines))
    if ending != "tifw":
        with rasterio.open(tmp_path / "new.tif") as f:
            assert f.transform.almost_equals(place)
    masked_out(run, tmp_path / "new.tif", tmp_path)
    with rasterio.open(tmp_path / "map.tif") as f:
        assert f.transform.almost_equals(place)
    (tmp_path / f"new.{ending}").write_text("10\n0\nnone\n")
    fails(65, f"new.{ending}: line 3: a world file has six lines with a number each, got 'none'",
          arguments=["predict", run, "--data", tmp_path / "new.tif", "--out", tmp_path / "map.tif", "--overwrite"])  # fmt: skip


def write_tiles(folder, *names):
    """Tiles of 32 × 32 pixels with different pixels in folder/images, and their masks of the ids 0 and 1 in folder/masks."""
    random = np.random.default_rng(5)
    for name in names:
        mask = (np.add.outer(np.arange(32), np.arange(32)) // 8 % 2).astype(np.uint8)
        image = (40 + 100 * mask[..., None] + random.normal(0, 9, (32, 32, 2))).astype(np.uint8)
        for kind, values in (("images", image), ("masks", mask)):
            (folder / kind / name).parent.mkdir(parents=True, exist_ok=True)
            write_tiff(folder / kind / f"{name}.tif", values)
    return ["--data", folder / "images", "--masks", folder / "masks"]


def test_folders_without_validation_take_it_from_the_training_tiles(tmp_path):
    data = write_tiles(tmp_path, *(f"train/{i}" for i in range(8)), "test/a", "test/b")
    shown = json.loads(ok("data", "show", tmp_path / "images", "--set", f"data.masks={tmp_path / 'masks'}", "--task", "segment", "--json",
                          "--set", "data.validation=0.25").stdout)  # fmt: skip
    assert [shown["splits"][name]["areas"] for name in ("train", "validation", "test")] == [6, 2, 2]
    assert "2 of the 8 training tiles, by data.validation = 0.25, for validation, seed 0" in shown["split"]
    ok("train", "segment", *data, *ONE_EPOCH, "--out", tmp_path / "run")
    ok("evaluate", tmp_path / "run", "--split", "validation")
    fails(65, "the validation split is empty (split: the folders train, val and test); increase data.validation",
          arguments=["train", "segment", *data, "--set", "data.validation=0", "--out", tmp_path / "none"])  # fmt: skip


def test_copies_of_training_tiles_in_the_test_split_are_a_warning(tmp_path):
    data = write_tiles(tmp_path, *(f"{split}/{i}" for split in ("train", "val", "test") for i in range(3)))
    show = ["data", "show", tmp_path / "images", "--set", f"data.masks={tmp_path / 'masks'}", "--task", "segment"]
    assert "identical" not in ok(*show).stdout
    (tmp_path / "images/test/1.tif").write_bytes((tmp_path / "images/train/2.tif").read_bytes())
    (tmp_path / "images/test/2.tif").write_bytes((tmp_path / "images/val/0.tif").read_bytes())
    words = "2 of the 3 test images are identical to images of the training or validation split, which makes its results too good"
    assert words in ok(*show).stdout
    assert words in ok("train", "segment", *data, *ONE_EPOCH, "--out", tmp_path / "run").stderr


def test_files_of_one_name_are_refused(tmp_path):
    data = write_tiles(tmp_path, "x", "y", "z", "u")
    ok("train", "segment", *data, *ONE_EPOCH, "--out", tmp_path / "run")
    np.save(tmp_path / "images/x.npy", read_tiff(tmp_path / "images/x.tif"))
    predict = ["predict", tmp_path / "run", "--data", tmp_path / "images", "--out", tmp_path / "maps"]
    fails(65, "images/x.npy and ", "images/x.tif would have the same map ", "rename or remove one of them", arguments=predict)
    assert not (tmp_path / "maps").exists()
    (tmp_path / "images/x.npy").unlink()
    ok(*predict)
    np.save(tmp_path / "masks/y.npy", read_tiff(tmp_path / "masks/y.tif")[..., 0])
    fails(65, "images/y.tif: ", "masks/y.npy and ", "masks/y.tif are both masks of this image: remove one",
          arguments=["train", "segment", *data, "--out", tmp_path / "run2"])  # fmt: skip


def test_explain_takes_other_images_whole_and_needs_their_masks(trained, tmp_path):
    run, path, mask = trained
    (tmp_path / path.name).write_bytes(path.read_bytes())
    out = ["--out", tmp_path / "why", "--overwrite", "--samples", 2]
    ok("explain", run, "--data", tmp_path / path.name, *out)  # the run's own image at another place
    for image in (read_tiff(path)[::-1], read_tiff(path)[:64]):
        write_tiff(tmp_path / "other.tif", image)
        fails(2, "other.tif has other images than the training data of the run", "needs --masks: their true classes",
              arguments=["explain", run, "--data", tmp_path / "other.tif", *out])  # fmt: skip
    write_tiff(tmp_path / "other_mask.tif", read_tiff(mask)[:64])
    for split in ("test", "validation"):
        ok("explain", run, "--data", tmp_path / "other.tif", "--masks", tmp_path / "other_mask.tif", "--split", split, *out)
        assert "2 windows of 32 × 32 pixels of all areas" in (tmp_path / "why/explain.html").read_text()


def test_the_axes_of_images_are_not_those_of_masks(tmp_path):
    path, mask = write_scene(tmp_path)
    image, ids = read_tiff(path), read_tiff(mask)[..., 0]
    np.save(tmp_path / "mask.npy", ids)
    shown = []
    for axes, array in (("chw", image.transpose(2, 0, 1)), ("tchw", image.transpose(2, 0, 1)[None]), ("hwc", image)):
        np.save(tmp_path / "image.npy", array)
        result = ok("data", "show", tmp_path / "image.npy", "--task", "segment", "--set", f"data.axes={axes}", "--set",
                    f"data.masks={tmp_path / 'mask.npy'}", "--json")  # fmt: skip
        shown.append(json.loads(result.stdout))
    assert shown[0] == shown[1] == shown[2] and shown[0]["bands"] == 4
