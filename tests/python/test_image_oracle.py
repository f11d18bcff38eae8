"""The image and volume readers and writers against rasterio, tifffile and nibabel.

Needs the test program `io_dump` as test_io_oracle.py does. The real files are those of MODEWISE_DATA, or
../shared/data beside the repository.
"""

import gzip
import io
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

from programs import ROOT, built

np = pytest.importorskip("numpy")
nibabel = pytest.importorskip("nibabel")
rasterio = pytest.importorskip("rasterio")
tifffile = pytest.importorskip("tifffile")

PROGRAM = built("io_dump")
DATA = pathlib.Path(os.environ.get("MODEWISE_DATA", ROOT.parent / "shared" / "data")) / "multispectral"

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
real_files = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there")


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


def values_of(answer):
    return np.frombuffer(bytes.fromhex(answer["values"]), "<f4")


def short_name(dtype):
    dtype = np.dtype(dtype)
    return f"{dtype.kind}{8 * dtype.itemsize}"


def expect_same_as_rasterio(answer, path):
    with rasterio.open(path) as image:
        expected = image.read().transpose(1, 2, 0).astype(np.float32)
        assert answer["shape"] == list(expected.shape)
        assert answer["dtype"] == short_name(image.dtypes[0])
        np.testing.assert_array_equal(values_of(answer).reshape(expected.shape), expected)
        nodata = image.nodata
        if nodata is None:
            assert "nodata" not in answer
        else:
            np.testing.assert_equal(float.fromhex(answer["nodata"]), nodata)
        if "transform" in answer:
            assert [float.fromhex(value) for value in answer["transform"]] == list(image.transform)[:6]
        else:
            assert image.transform.is_identity
        if image.crs is not None and image.crs.to_epsg() is not None:
            assert answer["crs"] == f"EPSG:{image.crs.to_epsg()}"


def random_image(rng, bands, height, width, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (rng.normal(size=(bands, height, width)) * 1e4).astype(dtype)
    info = np.iinfo(dtype)
    # Numbers that float32 holds exactly, runs of equal values (PackBits, LZW tables), and the extremes.
    values = rng.integers(max(info.min, -(2**20)), min(info.max, 2**20), (bands, height, width)).astype(dtype)
    values[:, :, width // 3 : width // 2] = info.max if dtype.itemsize < 4 else 7
    values[:, 0, 0] = info.min
    return values


TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


@pytest.mark.parametrize("compression", ["none", "lzw", "deflate", "packbits", "zstd"])
@pytest.mark.parametrize("dtype", TYPES)
def test_rasterio_writes_we_read(ours, tmp_path, dtype, compression):
    rng = np.random.default_rng([TYPES.index(dtype), len(compression)])
    for case, (height, width) in enumerate([(1, 1), (5, 7), (33, 65), (300, 131)]):
        bands = int(rng.integers(1, 6))
        path = tmp_path / f"{case}.tif"
        options = {"interleave": rng.choice(["pixel", "band"]), "bigtiff": rng.choice(["YES", "NO"]), "endianness": rng.choice(["LITTLE", "BIG"])}
        if compression != "none":
            options["compress"] = compression
        if compression in ("lzw", "deflate", "zstd"):
            options["predictor"] = 3 if np.dtype(dtype).kind == "f" and rng.random() < 0.5 else int(rng.integers(1, 3))
        if rng.random() < 0.5:
            options |= {"tiled": True, "blockxsize": 16, "blockysize": 48}
        elif rng.random() < 0.5:
            options["blockysize"] = int(rng.integers(1, 9))
        image = random_image(rng, bands, height, width, dtype)
        name = {"u1": "uint8", "i1": "int8"}.get(dtype, np.dtype(dtype).name)
        transform = rasterio.transform.from_origin(500000 + 10 * case, 4.2e6, 10, 20)
        with rasterio.open(path, "w", driver="GTiff", height=height, width=width, count=bands, dtype=name, crs="EPSG:32633", transform=transform,
                           nodata=rng.choice([None, 0, 7]), **options) as file:  # fmt: skip
            file.write(image)
        answer = ours("tiff", path)
        expect_same_as_rasterio(answer, path)
        assert answer["compression"] == compression
        assert answer["tiled"] == options.get("tiled", False)
        for _ in range(5):
            row, column = int(rng.integers(0, height)), int(rng.integers(0, width))
            rows, columns = int(rng.integers(1, height - row + 1)), int(rng.integers(1, width - column + 1))
            window = values_of(ours(f"tiff {row} {column} {rows} {columns}", path))
            np.testing.assert_array_equal(window.reshape(rows, columns, bands).transpose(2, 0, 1),
                                          image[:, row : row + rows, column : column + columns].astype(np.float32))  # fmt: skip


def test_tifffile_writes_we_read(ours, tmp_path):
    rng = np.random.default_rng(3)
    for case in range(60):
        height, width, bands = (int(n) for n in rng.integers(1, 40, 3))
        dtype = np.dtype(rng.choice(TYPES)).newbyteorder(rng.choice(["<", ">"]))
        planar = bool(rng.random() < 0.5)
        image = random_image(rng, bands, height, width, dtype.newbyteorder("="))
        data = image if planar else image.transpose(1, 2, 0)
        path = tmp_path / f"{case}.tif"
        tifffile.imwrite(path, data.astype(dtype), byteorder=dtype.byteorder if dtype.byteorder in "<>" else "<", photometric="minisblack", bigtiff=bool(rng.random() < 0.3),
                         planarconfig=("separate" if planar else "contig") if bands > 1 else None, metadata=None,
                         compression=rng.choice([None, "zlib"]), predictor=bool(rng.random() < 0.5) and None,
                         **({"tile": (16, 32)} if rng.random() < 0.4 else {"rowsperstrip": int(rng.integers(1, 50))}))  # fmt: skip
        answer = ours("tiff", path)
        assert answer["shape"] == [height, width, bands]
        np.testing.assert_array_equal(values_of(answer).reshape(height, width, bands), image.transpose(1, 2, 0).astype(np.float32))


def test_pages_and_overviews(ours, tmp_path):
    path = tmp_path / "pages.tif"
    tifffile.imwrite(path, np.zeros((3, 20, 30), np.uint8), photometric="minisblack", metadata=None)
    assert ours("tiff 0 0 1 1", path)["pages"] == 3
    path = tmp_path / "overviews.tif"
    with rasterio.open(path, "w", driver="GTiff", height=600, width=700, count=1, dtype="uint8") as file:
        file.write(np.ones((1, 600, 700), np.uint8))
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4])
    assert ours("tiff 0 0 1 1", path)["pages"] == 1


def test_missing_blocks_are_nodata(ours, tmp_path):
    for nodata in (None, 9):
        path = tmp_path / f"{nodata}.tif"
        with rasterio.open(path, "w", driver="GTiff", height=700, width=900, count=2, dtype="int16", tiled=True, sparse_ok=True, nodata=nodata, compress="lzw") as file:
            file.write(np.full((2, 30, 20), 3, np.int16), window=((300, 330), (400, 420)))
        expect_same_as_rasterio(ours("tiff", path), path)


def test_georeferences(ours, tmp_path):
    image = np.zeros((1, 4, 5), np.uint8)
    transforms = [rasterio.Affine(0.1, 0, -12.3, 0, -0.1, 45), rasterio.Affine(3, 1, 7, 2, -5, 9), rasterio.Affine(2, 0, 0, 0, 2, 0)]
    wkt = rasterio.crs.CRS.from_proj4("+proj=laea +lat_0=10 +lon_0=20 +datum=WGS84 +units=m").to_wkt()
    for case, transform in enumerate(transforms):
        for point in ("Point", "Area"):
            for crs in ("EPSG:4326", "EPSG:3857", "EPSG:32755", wkt, None):
                path = tmp_path / f"{case}.tif"
                with rasterio.open(path, "w", driver="GTiff", height=4, width=5, count=1, dtype="uint8", crs=crs, transform=transform) as file:
                    file.write(image)
                    file.update_tags(AREA_OR_POINT=point)
                answer = ours("tiff write", path)
                expect_same_as_rasterio(answer, path)
                if crs == wkt:
                    assert answer["crs"] not in ("", "EPSG:4326")
                expect_same_file(f"{path}.tif", path)


def expect_same_file(copy, original):
    with rasterio.open(copy) as ours_, rasterio.open(original) as theirs:
        assert ours_.transform == theirs.transform
        assert ours_.crs == theirs.crs
        assert ours_.tags().get("AREA_OR_POINT") == theirs.tags().get("AREA_OR_POINT")
        np.testing.assert_equal(ours_.nodata, theirs.nodata)
        np.testing.assert_array_equal(ours_.read(), theirs.read().astype(ours_.dtypes[0]))
        assert ours_.count == theirs.count


@pytest.mark.parametrize("compression", [None, "lzw", "deflate"])
@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_we_write_others_read(ours, tmp_path, dtype, tiled, compression):
    rng = np.random.default_rng(5)
    for case, (height, width, bands) in enumerate([(1, 1, 1), (31, 17, 2), (256, 256, 1), (513, 300, 7), (257, 1025, 3)]):
        path = tmp_path / f"{case}.tif"
        image = random_image(rng, bands, height, width, dtype)
        nodata = {"uint8": 255, "float32": float("nan")}[dtype]
        with rasterio.open(path, "w", driver="GTiff", height=height, width=width, count=bands, dtype=dtype, crs="EPSG:32633", nodata=nodata, compress=compression, tiled=tiled,
                           transform=rasterio.transform.from_origin(1.5, 2.5, 0.3, 0.3)) as file:  # fmt: skip
            file.write(image)
        answer = ours("tiff write", path)
        copy = f"{path}.tif"
        expect_same_file(copy, path)
        with rasterio.open(copy) as written:
            assert written.profile.get("compress") == compression
            np.testing.assert_array_equal(written.read(), image)
        with tifffile.TiffFile(copy) as file:
            assert file.pages[0].is_tiled == tiled
            if compression is None or (compression == "deflate" and dtype == "uint8"):  # the rest needs imagecodecs
                np.testing.assert_array_equal(file.asarray().reshape(height, width, bands), image.transpose(1, 2, 0))
        again = ours("tiff", copy)
        assert again["values"] == answer["values"]


def test_palettes(ours, tmp_path):
    path = tmp_path / "classes.tif"
    colors = {0: (0, 0, 0, 255), 1: (255, 128, 7, 255), 200: (1, 2, 3, 255)}
    with rasterio.open(path, "w", driver="GTiff", height=3, width=4, count=1, dtype="uint8") as file:
        file.write(np.arange(12, dtype=np.uint8).reshape(1, 3, 4))
        file.write_colormap(1, colors)
    answer = ours("tiff write", path)
    assert [answer["palette"][i] for i in colors] == [list(color[:3]) for color in colors.values()]
    with rasterio.open(f"{path}.tif") as copy:
        assert {i: copy.colormap(1)[i] for i in colors} == colors


@real_files
@pytest.mark.parametrize("name", ["S1Hand", "S2Hand", "LabelHand"])
def test_flood_chips(ours, name):
    path = DATA / "sen1floods11" / f"Spain_7370579_{name}.tif"
    answer = ours("tiff", path)
    expect_same_as_rasterio(answer, path)
    assert answer["crs"] == "EPSG:4326"
    rng = np.random.default_rng(6)
    expected = rasterio.open(path).read().transpose(1, 2, 0).astype(np.float32)
    for row, column in rng.integers(0, 400, (5, 2)):
        window = ours(f"tiff {row} {column} 100 112", path)
        np.testing.assert_array_equal(values_of(window).reshape(100, 112, -1), expected[row : row + 100, column : column + 112])


@real_files
def test_flood_chips_are_written_with_their_place(ours, tmp_path):
    for name in ("S1Hand", "S2Hand", "LabelHand"):
        path = tmp_path / f"{name}.tif"
        path.write_bytes((DATA / "sen1floods11" / f"Spain_7370579_{name}.tif").read_bytes())
        ours("tiff write", path)
        expect_same_file(f"{path}.tif", path)


@real_files
def test_landsat_benchmark_patches(ours, tmp_path):
    checked = 0
    for archive in sorted((DATA / "ssl4eo_format_sample").glob("*.tar.gz")):
        with tarfile.open(archive) as tar:
            tar.extractall(tmp_path)
    for path in sorted(tmp_path.rglob("*.tif")):
        expect_same_as_rasterio(ours("tiff", path), path)
        checked += 1
    assert checked > 0


def test_gzip_agrees(ours, tmp_path):
    rng = np.random.default_rng(8)
    path = tmp_path / "file.gz"
    for case in range(40):
        parts = [bytes(rng.integers(0, rng.choice([1, 4, 256]), int(rng.integers(0, 5000)), dtype=np.uint8)) for _ in range(case % 3 + 1)]
        path.write_bytes(b"".join(gzip.compress(part, int(rng.integers(0, 10))) for part in parts))
        assert bytes.fromhex(ours("gzip", path)) == b"".join(parts)
        content = bytearray(path.read_bytes())
        content[int(rng.integers(10, len(content)))] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(content)
        try:
            expected = gzip.decompress(content)
        except Exception:  # noqa: BLE001 - Python raises many kinds
            ours("gzip", path, refused=True)
        else:
            assert bytes.fromhex(ours("gzip", path)) == expected


NIFTI_TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


def random_affine(rng):
    """An affine of any orientation: axes permuted and flipped, rotated by up to 35 degrees, scaled, moved."""
    turn = np.linalg.qr(np.eye(3) + rng.uniform(-0.5, 0.5, (3, 3)))[0]
    turn *= np.sign(np.diag(turn))
    axes = np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)
    affine = np.eye(4)
    affine[:3, :3] = turn @ axes @ np.diag(rng.uniform(0.3, 4, 3))
    affine[:3, 3] = rng.normal(size=3) * 100
    return affine


def test_nifti_agrees(ours, tmp_path):
    rng = np.random.default_rng(9)
    for case in range(200):
        dtype = np.dtype(rng.choice(NIFTI_TYPES))
        rank = int(rng.integers(1, 6))
        shape = tuple(int(n) for n in rng.integers(1, 7, rank))
        data = random_image(rng, 1, 1, int(np.prod(shape)), dtype).reshape(shape)
        kind = nibabel.Nifti1Image if rng.random() < 0.6 else nibabel.Nifti2Image
        header = kind.header_class(endianness=rng.choice(["<", ">"]))
        header.set_data_dtype(dtype)
        header["descrip"] = f"case {case}".encode()
        image = kind(data, random_affine(rng), header=header)
        if rng.random() < 0.3:  # the quaternion alone
            image.set_sform(None, 0)
            image.set_qform(random_affine(rng), 1, strip_shears=True)
        if rng.random() < 0.3:
            image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"x" * int(rng.integers(1, 50))))
        path = tmp_path / (f"{case}.nii.gz" if rng.random() < 0.5 else f"{case}.nii")
        slope = None
        if rng.random() < 0.5 and dtype.itemsize < 8:
            slope = (float(np.float32(rng.normal())), float(np.float32(rng.normal() * 10)))
            image.header.set_slope_inter(*slope)
        nibabel.save(image, path)
        if slope:  # save() chooses a slope of its own; write the one that was drawn
            write_scale(path, slope, kind)
        expected = nibabel.load(path)
        answer, turned = ours("nifti", path), ours("nifti ras", path)
        expect_same_volume(answer, expected)
        assert answer["description"] == f"case {case}"
        expect_same_volume(turned, nibabel.as_closest_canonical(pad(expected)))
        assert turned["orientation"] == "RAS"


def write_scale(path, slope, kind):
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    order = kind.header_class.from_fileobj(io.BytesIO(content), check=False).endianness
    at, item = (112, "f4") if kind is nibabel.Nifti1Image else (176, "f8")
    content = content[:at] + np.array(slope, order + item).tobytes() + content[at + 2 * int(item[1]) :]
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def pad(image):
    """With three axes at least, as ours."""
    data = np.asanyarray(image.dataobj, dtype=np.float64)
    return nibabel.Nifti2Image(data.reshape(data.shape + (1,) * (3 - data.ndim)), image.affine)


def expect_same_volume(answer, image):
    expected = image.get_fdata().astype(np.float32)
    shape = list(expected.shape)
    while len(shape) > 3 and shape[-1] == 1:
        shape.pop()
    shape += [1] * (3 - len(shape))
    assert answer["shape"] == shape
    np.testing.assert_array_equal(values_of(answer).reshape(shape), expected.reshape(shape))
    affine = np.array([float.fromhex(value) for value in answer["affine"]]).reshape(3, 4)
    np.testing.assert_allclose(affine, image.affine[:3], rtol=1e-6, atol=1e-6)
    spacing = np.array([float.fromhex(value) for value in answer["spacing"]])
    np.testing.assert_allclose(spacing[: expected.ndim], image.header.get_zooms()[:3], rtol=1e-5)
    assert answer["orientation"] == "".join(nibabel.aff2axcodes(image.affine))


def test_nifti_units_are_millimetres(ours, tmp_path):
    for unit, factor in (("meter", 1e3), ("mm", 1), ("micron", 1e-3), ("unknown", 1)):
        image = nibabel.Nifti1Image(np.zeros((2, 3, 4), np.float32), np.diag([2.0, 3, 4, 1]))
        image.header.set_xyzt_units(unit)
        path = tmp_path / "unit.nii"
        nibabel.save(image, path)
        assert [float.fromhex(value) for value in ours("nifti", path)["spacing"]] == [2 * factor, 3 * factor, 4 * factor]
