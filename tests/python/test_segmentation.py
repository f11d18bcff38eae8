"""Segmentation from the command line: `modewise train segment`, evaluate, predict, compare, report on small scenes; rasterio
checks the maps. Drives $MODEWISE_BUILD/bin/modewise."""
import json
import subprocess
import tarfile
import time

import numpy as np
import pytest

from cli_helpers import DATA, PROGRAM, fails, ok

rasterio = pytest.importorskip("rasterio")
from rasterio.transform import from_origin  # noqa: E402

QUICK = ["--set", "data.window=32", "--set", "train.epochs=3", "--set", "train.batch_size=4", "--set", "model.layers=1",
         "--set", "output.report=false"]
UNET = ["--model", "unet", "--set", "model.unet.width=8", "--set", "data.window=32", "--set", "train.epochs=3",
        "--set", "train.batch_size=4", "--set", "output.report=false"]


def label_map(side):
    y, x = np.mgrid[0:side, 0:side]
    return ((np.sin(x / 9) + np.cos(y / 7) + np.sin((x + y) / 13)) > 0.3).astype(np.uint8) + (x > 0.7 * side)


def write_scene(folder, side=96, bands=4, nodata=None, mask_side=None, name="scene", edit=None):
    label = label_map(side)
    random = np.random.default_rng(11)
    spectra = random.uniform(60, 190, (3, bands))
    image = spectra[label].transpose(2, 0, 1) + random.normal(0, 10, (bands, side, side))
    image = np.clip(image, 1, 255).astype(np.uint16)
    if nodata is not None:
        image[:, 10:20, 30:70] = nodata
    ids = np.array([11, 41, 90], np.uint8)[label]
    if edit:
        edit(ids)
    profile = dict(driver="GTiff", width=side, height=side, crs="EPSG:32633", transform=from_origin(300000, 5000000, 10, 10))
    path, mask = folder / f"{name}.tif", folder / f"{name}_mask.tif"
    with rasterio.open(path, "w", count=bands, dtype="uint16", nodata=nodata, tiled=True, blockxsize=32, blockysize=32,
                       compress="deflate", **profile) as f:
        f.write(image)
    profile.update(width=mask_side or side, height=mask_side or side)
    with rasterio.open(mask, "w", count=1, dtype="uint8", compress="lzw", **profile) as f:
        f.write(ids[:mask_side, :mask_side], 1)
    return path, mask


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    path, mask = write_scene(folder)
    ok("train", "segment", "--data", path, "--masks", mask, "--set", "data.classes=nlcd", *QUICK, "--out", folder / "run")
    return folder, path, mask


def test_a_run_is_evaluated_and_compared(trained):
    folder, path, mask = trained
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    test = metrics["test"]
    assert test["micro_iou"] == pytest.approx(test["accuracy"] / (2 - test["accuracy"]))
    assert len(test["classes"]) == 13 and test["pixels"] == sum(map(sum, test["confusion"]))
    again = json.loads(ok("evaluate", folder / "run", "--json").stdout)
    assert again["confusion"] == test["confusion"]
    own = ["evaluate", folder / "run", "--data", path, "--masks", mask, "--json"]  # its test split: other blocks trained it
    assert json.loads(ok(*own).stdout) == again
    whole = json.loads(ok(*own, "--split", "all").stdout)
    assert whole["pixels"] == 96 * 96 and whole["split"] == "all"
    assert "validation" in ok("evaluate", folder / "run", "--split", "validation", "--detail").stdout
    table = json.loads(ok("compare", folder / "run", "--json").stdout)
    assert table["groups"][0]["accuracy"]["mean"] == test["accuracy"]
    ok("report", folder / "run")
    page = (folder / "run" / "report.html").read_text()
    assert "data:image/png;base64," in page and "Metrics by class" in page
    ok("report", folder / "run", folder / "run", "--out", folder / "both.html")
    shown = json.loads(ok("data", "show", path, "--set", f"data.masks={mask}", "--json").stdout)
    assert [c["id"] for c in shown["classes"]] == [11, 41, 90]
    assert json.loads(ok("data", "show", path, "--json").stdout)["crs"] == "EPSG:32633"
    assert "classes = 'auto'" in ok("config", "show", "segmentation").stdout


@pytest.mark.parametrize("options, names", [
    ([], ["rank_mode0", "rank_mode1", "rank_product", "rank_sum"]),
    (["--model", "transformer"], ["rank_full"]),
    (["--model", "unet", "--set", "model.unet.width=4"], []),
])  # fmt: skip
def test_stable_ranks_are_recorded_at_each_evaluation(trained, tmp_path, options, names):
    _, path, mask = trained
    tokens = [] if "unet" in options else ["--set", "model.layers=1"]
    result = ok("train", "segment", "--data", path, "--masks", mask, "--set", "data.classes=nlcd", "--set", "data.window=32",
                "--set", "train.epochs=2", "--set", "train.batch_size=4", "--set", "output.report=false", *tokens, *options,
                "--track", "stable_rank", "--out", tmp_path / "run")  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    evaluations = [line for line in lines if "val_loss" in line]
    assert len(evaluations) == 2
    for line in evaluations:
        assert sorted(name for name in line if name.startswith("rank_")) == sorted([*names, *(name.replace("rank_", "rank_train_") for name in names)])
        assert all(1 <= line[name] <= 64 + 1e-6 for name in names)  # 8 × 8 tokens
    warning = "train.track = stable_rank records nothing: this model has no attention matrices"
    assert result.stderr.count(warning) == (0 if names else 1)


def test_tracked_stable_ranks_are_those_of_the_matrices(trained, tmp_path):
    """Ranks of the weights after the last evaluation, which are the last ones: explain shows the matrices of the same windows."""
    _, path, mask = trained
    ok("train", "segment", "--data", path, "--masks", mask, "--set", "data.classes=nlcd", *QUICK, "--set", "train.epochs=1",
       "--track", "stable_rank", "--out", tmp_path / "run")  # fmt: skip
    line = [json.loads(one) for one in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()][-1]
    said = json.loads(ok("explain", tmp_path / "run", "--split", "validation", "--samples", 8, "--out", tmp_path / "why", "--json").stdout)
    layer = said["stable_rank"][0]
    assert line["rank_mode0"] == pytest.approx(np.mean(layer["modes"]["row"]), rel=1e-5)
    assert line["rank_product"] == pytest.approx(np.mean(layer["product"]), rel=1e-5)


def test_explain_shows_rows_columns_and_bands(trained, tmp_path):
    folder, _, _ = trained
    result = json.loads(ok("explain", folder / "run", "--split", "train", "--samples", 2, "--num-examples", 2, "--out", tmp_path,
                           "--json").stdout)
    assert result["modes"] == ["row", "column"] and result["combine"] == "product"
    arrays = np.load(tmp_path / "explain.npz")
    for mode in ("row", "column"):
        mean, single = arrays[f"layer1_{mode}_mean"].astype(float), arrays[f"layer1_{mode}"].astype(float)
        assert mean.shape == (4, 8, 8) and single.shape == (2, 4, 8, 8)
        assert np.allclose(mean.sum(-1), 1, atol=1e-5) and np.allclose(single.mean(0), mean, atol=1e-6)
        # All samples are kept, so the ranks are those of numpy, a mean over samples for each head.
        ranks = np.linalg.norm(single, axis=(-2, -1))**2 / np.linalg.norm(single, 2, axis=(-2, -1))**2
        assert np.allclose(result["stable_rank"][0]["modes"][mode], ranks.mean(0), rtol=1e-4)
    bands, rows, columns = result["influence"]
    assert [one["mode"] for one in result["influence"]] == ["band", "row", "column"]
    assert bands["places"] == ["0", "1", "2", "3"] and len(bands["targets"]) == 13
    assert np.allclose(np.array(bands["matrix"]).reshape(13, 4).mean(0), bands["effect"], rtol=1e-5)
    assert min(bands["effect"]) > 0
    assert rows["places"] == columns["places"] == [f"{4 * i} … {4 * i + 3}" for i in range(8)]
    page = (tmp_path / "explain.html").read_text()
    assert "Layer 1, row" in page and "Influence of band" in page


def test_explain_says_that_a_constant_band_moves_nothing(tmp_path):
    path, mask = write_scene(tmp_path, side=80)
    with rasterio.open(path, "r+") as f:
        f.write(np.full((80, 80), 77, np.uint16), 3)
    for name, options in (("transformer", [*QUICK, "--model", "transformer"]), ("unet", UNET)):
        ok("train", "segment", "--data", path, "--masks", mask, *options, "--out", tmp_path / name)
        result = json.loads(ok("explain", tmp_path / name, "--samples", 3, "--json").stdout)
        effect = result["influence"][0]["effect"]
        assert effect[2] == 0 and min(effect[:2] + effect[3:]) > 0
    assert result["stable_rank"] == [] and [len(i["places"]) for i in result["influence"]] == [4, 1, 1]
    full = np.load(tmp_path / "transformer" / "explain" / "explain.npz")["layer1_full_mean"]
    assert full.shape == (4, 64, 64) and np.allclose(full.sum(-1), 1, atol=1e-5)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = path.rename(elsewhere / "scene.tif")
    fails(66, "scene.tif", arguments=["explain", tmp_path / "unet"])
    ok("explain", tmp_path / "unet", "--data", moved)
    ok("explain", tmp_path / "unet", "--data", moved, "--masks", mask)


def test_the_map_has_the_scenes_georeference(trained, tmp_path):
    folder, path, _ = trained
    out = tmp_path / "map.tif"
    answer = json.loads(ok("predict", folder / "run", "--out", out, "--json").stdout)
    with rasterio.open(path) as scene, rasterio.open(out) as result:
        assert result.crs == scene.crs and result.transform == scene.transform and result.shape == scene.shape
        values = result.read(1)
        assert set(np.unique(values)) <= {0, 11, 21, 22, 31, 41, 42, 43, 52, 71, 81, 82, 90, 95}
        assert result.nodata == 0
        assert result.colormap(1)[11][:3] == (70, 107, 159)
    assert {c["id"]: c["pixels"] for c in answer["classes"] if c["pixels"]} == {
        int(i): int(n) for i, n in zip(*np.unique(values, return_counts=True)) if i}
    with rasterio.open(tmp_path / "map.png") as image:  # the map, and the legend to its right
        pixels = image.read()
    with rasterio.open(out) as result:
        colors = result.colormap(1)
    assert pixels.shape[0] == 3 and pixels.shape[2] > 96
    for row, column in ((0, 0), (50, 20), (95, 95)):
        assert tuple(pixels[:, row, column]) == colors[values[row, column]][:3]
    fails(73, "exists already", arguments=["predict", folder / "run", "--out", out])
    ok("predict", folder / "run", "--out", out, "--overwrite")


def test_a_map_does_not_depend_on_threads(trained, tmp_path):
    folder, path, _ = trained
    for threads in (1, 3):
        ok("predict", folder / "run", "--out", tmp_path / f"{threads}.tif", "--threads", threads)
    assert (tmp_path / "1.tif").read_bytes() == (tmp_path / "3.tif").read_bytes()


@pytest.mark.parametrize("settings", [QUICK, UNET], ids=["hot", "unet"])
def test_training_has_the_same_bits_for_any_threads(tmp_path, settings):
    path, mask = write_scene(tmp_path, nodata=0)
    for threads in (1, 3):
        ok("train", "segment", "--data", path, "--masks", mask, *settings, "--set", "train.epochs=2", "--threads", threads,
           "--out", tmp_path / str(threads))
    for name in ("metrics.jsonl",):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()
    weights = [sorted((tmp_path / t / "checkpoints").glob("*/model.safetensors"))[-1].read_bytes() for t in ("1", "3")]
    assert weights[0] == weights[1]


def test_a_resumed_run_ends_as_if_never_stopped(tmp_path):
    path, mask = write_scene(tmp_path)
    common = ["--data", path, "--masks", mask, *QUICK, "--threads", "2"]
    ok("train", "segment", *common, "--out", tmp_path / "whole")
    process = subprocess.Popen([PROGRAM, "train", "segment", *map(str, common), "--out", str(tmp_path / "cut"), "--set",
                                "train.checkpoint_every_steps=1"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    checkpoints = tmp_path / "cut" / "checkpoints"
    while process.poll() is None and len(list(checkpoints.glob("*"))) < 2:
        time.sleep(0.002)
    process.terminate()
    assert process.wait() == 143  # it had not ended by itself
    ok("train", "segment", "--resume", tmp_path / "cut", "--threads", "1")
    assert (tmp_path / "cut" / "metrics.jsonl").read_bytes() == (tmp_path / "whole" / "metrics.jsonl").read_bytes()


def test_pixels_without_data_are_nodata_in_the_map(trained, tmp_path):
    folder, path, _ = trained
    hole, _ = write_scene(tmp_path, nodata=0, name="hole")
    answer = json.loads(ok("predict", folder / "run", "--data", hole, "--out", tmp_path / "hole_map.tif", "--json").stdout)
    assert answer["without_data"] == 10 * 40
    with rasterio.open(tmp_path / "hole_map.tif") as result:
        values = result.read(1)
    assert (values[10:20, 30:70] == 0).all() and (np.delete(values, range(10, 20), 0) > 0).all()


def test_a_folder_of_scenes_becomes_a_folder_of_maps(trained, tmp_path):
    folder, _, _ = trained
    (tmp_path / "in" / "deep").mkdir(parents=True)
    write_scene(tmp_path / "in", name="a", side=40)
    (tmp_path / "in" / "a_mask.tif").unlink()
    path, mask = write_scene(tmp_path / "in" / "deep", name="b", side=33)
    mask.unlink()
    ok("predict", folder / "run", "--data", tmp_path / "in", "--out", tmp_path / "out")
    for name, side in (("a", 40), ("deep/b", 33)):
        with rasterio.open(tmp_path / "out" / f"{name}.tif") as result:
            assert result.shape == (side, side)
        assert (tmp_path / "out" / f"{name}.png").exists()


def test_what_is_wrong_is_said_in_a_sentence(trained, tmp_path):
    folder, path, mask = trained
    train = ["train", "segment", *QUICK, "--out", tmp_path / "run"]
    _, small = write_scene(tmp_path, mask_side=95, name="small")
    fails(65, "small_mask.tif", "the mask has 95 × 95 pixels", arguments=[*train, "--data", path, "--masks", small])

    def spoil(ids):
        ids[5, 6] = 7
    _, wrong = write_scene(tmp_path, name="wrong", edit=spoil)
    fails(65, "wrong_mask.tif", "row 5, column 6: class id 7", "nlcd",
          arguments=[*train, "--data", path, "--masks", wrong, "--set", "data.classes=nlcd"])
    for name, bands in (("a", 4), ("b", 5), ("c", 4), ("d", 4)):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "masks").mkdir(exist_ok=True)
        image, mask_path = write_scene(tmp_path, name=name, bands=bands)
        image.rename(tmp_path / "images" / f"{name}.tif")
        mask_path.rename(tmp_path / "masks" / f"{name}.tif")
    fails(65, "b.tif", "5 bands", "all images must have the same dates and bands",
          arguments=[*train, "--data", tmp_path / "images", "--masks", tmp_path / "masks"])
    cut = tmp_path / "cut.tif"
    cut.write_bytes(path.read_bytes()[:700])
    fails(65, "cut.tif", arguments=[*train, "--data", cut, "--masks", mask])
    fails(66, "does not exist", arguments=[*train, "--data", tmp_path / "no.tif", "--masks", mask])
    fails(2, "--masks", arguments=[*train, "--data", path])
    five, _ = write_scene(tmp_path, name="five", bands=5)
    fails(65, "five.tif", "5 bands, but the run was trained on 1 of 4",
          arguments=["predict", folder / "run", "--data", five, "--out", tmp_path / "m.tif"])
    fails(78, "multiple of 4", arguments=[*train, "--data", path, "--masks", mask, "--set", "data.window=30"])
    assert not (tmp_path / "run").exists() and not (tmp_path / "m.tif").exists()


def test_the_ssl4eo_sample_is_read(tmp_path):
    sample = DATA / "multispectral" / "ssl4eo_format_sample"
    if not sample.exists():
        pytest.skip(f"no {sample}")
    for name in ("ssl4eo_l_etm_sr_benchmark", "ssl4eo_l_etm_nlcd"):
        with tarfile.open(sample / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path)
    images, masks = tmp_path / "ssl4eo_l_etm_sr_benchmark", tmp_path / "ssl4eo_l_etm_nlcd"
    shown = json.loads(ok("data", "show", images, "--set", f"data.masks={masks}", "--set", "data.ignore=[0]", "--json").stdout)
    assert shown["images"] == 9 and shown["bands"] == 6 and shown["window"] == 224
    assert "SSL4EO-L" in shown["split"]
    assert [shown["splits"][s]["areas"] for s in ("train", "validation", "test")] == [6, 1, 2]
    ok("train", "segment", "--data", images, "--masks", masks, *QUICK, "--set", "data.ignore=[0]", "--set", "data.centre=64",
       "--set", "train.max_steps=2", "--out", tmp_path / "run")


def test_a_mask_elsewhere_than_its_image_is_refused(tmp_path):
    path, mask = write_scene(tmp_path)

    def moved(**tags):
        with rasterio.open(mask) as read:
            profile, ids = read.profile, read.read()
        with rasterio.open(tmp_path / "moved.tif", "w", **{**profile, **tags}) as f:
            f.write(ids)
        return ["data", "show", path, "--set", f"data.masks={tmp_path / 'moved.tif'}"]
    for transform in (from_origin(300240, 5000000, 10, 10), from_origin(300000, 5000000, 20, 20),
                      rasterio.Affine(10, 0, 300000, 0, 10, 5000000 - 960)):
        fails(65, "moved.tif: the georeference of the mask", f"is not that of its image {path}", "first pixel at (300000, 5000000)", "gdalwarp",
              arguments=moved(transform=transform))
    fails(65, f"moved.tif: the mask is in EPSG:32634, but its image {path} in EPSG:32633", arguments=moved(crs="EPSG:32634"))
    ok(*moved(transform=from_origin(300000.2, 5000000, 10, 10)))
    ok(*moved(crs=None, transform=None))


def test_pages_that_are_not_read_are_counted(trained, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    folder, path, mask = trained
    with rasterio.open(path) as f:
        image = f.read()
    stack, levels = tmp_path / "stack.tif", tmp_path / "levels.tif"
    with tifffile.TiffWriter(stack) as pages, tifffile.TiffWriter(levels) as overviews:
        for page in range(3):
            pages.write(image.transpose(1, 2, 0), photometric="minisblack", planarconfig="contig")
            overviews.write(image.transpose(1, 2, 0)[:: 2**page, :: 2**page], photometric="minisblack", planarconfig="contig", subfiletype=int(page > 0))
    words = f"{stack}: 2 pages after the first are left out"
    assert words in ok("data", "show", stack, "--set", f"data.masks={mask}").stdout
    assert words in ok("data", "show", stack, "--task", "segmentation").stdout
    assert words in ok("predict", folder / "run", "--data", stack, "--out", tmp_path / "map.tif").stderr
    assert "after the first" not in ok("data", "show", levels, "--set", f"data.masks={mask}").stdout
