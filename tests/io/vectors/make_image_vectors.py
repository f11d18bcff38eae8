"""Writes images.json: small TIFF files made by rasterio (GDAL) and tifffile, and NIfTI files made by nibabel, with the content
that these libraries read. Run with rasterio, tifffile and nibabel installed:

    python make_image_vectors.py
"""

import gzip
import json
import pathlib
import tempfile
import warnings

import nibabel
import numpy as np
import rasterio
import tifffile

HERE = pathlib.Path(__file__).parent
FOLDER = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(11)
warnings.filterwarnings("ignore")


def sample(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (rng.normal(size=shape) * 100).astype(dtype)
    return rng.integers(max(np.iinfo(dtype).min, -(2**20)), min(np.iinfo(dtype).max, 2**20), shape).astype(dtype)


def hexes(values):
    return [float(value).hex() for value in np.asarray(values, np.float64).ravel()]


def tiff_case(name, path, expected):
    """`expected` is [height, width, bands]."""
    with rasterio.open(path) as image:
        return {
            "name": name,
            "file": path.read_bytes().hex(),
            "shape": list(expected.shape),
            "dtype": f"{expected.dtype.kind}{8 * expected.dtype.itemsize}",
            "values": hexes(expected.astype(np.float32)),
            "nodata": None if image.nodata is None else float(image.nodata).hex(),
            "transform": hexes(list(image.transform)[:6]),
            "crs": "" if image.crs is None else f"EPSG:{image.crs.to_epsg()}",
        }


def with_rasterio(name, dtype, shape, **options):
    image = sample(dtype, (shape[2], *shape[:2]))
    path = FOLDER / "file.tif"
    with rasterio.open(path, "w", driver="GTiff", height=shape[0], width=shape[1], count=shape[2], dtype=np.dtype(dtype).name, **options) as file:
        file.write(image)
        if name.endswith("point"):
            file.update_tags(AREA_OR_POINT="Point")
    return tiff_case(name, path, image.transpose(1, 2, 0))


def with_tifffile(name, dtype, shape, **options):
    image = sample(np.dtype(dtype).newbyteorder("="), shape)
    path = FOLDER / "file.tif"
    data = image.transpose(2, 0, 1) if options.get("planarconfig") == "separate" else image.squeeze()
    tifffile.imwrite(path, data, photometric="minisblack", metadata=None, **options)
    return tiff_case(name, path, image)


def tiff_cases():
    place = {"crs": "EPSG:32633", "transform": rasterio.Affine(10, 0, 500000, 0, -10, 4.2e6)}
    return [
        with_rasterio("u8", "u1", (3, 5, 1), **place),
        with_rasterio("i16-lzw", "i2", (7, 5, 3), compress="lzw", nodata=-9999, **place),
        with_rasterio("f32-deflate-predictor", "f4", (9, 4, 2), compress="deflate", predictor=3, nodata=float("nan"), **place),
        with_rasterio("u16-packbits-big-endian", "u2", (6, 6, 1), compress="packbits", endianness="BIG"),
        with_rasterio("f64-zstd-bigtiff", "f8", (5, 3, 1), compress="zstd", bigtiff="YES"),
        with_rasterio("u8-tiles", "u1", (17, 33, 2), tiled=True, blockxsize=16, blockysize=16, compress="deflate", crs="EPSG:4326", transform=rasterio.Affine(0.1, 0, -7, 0, -0.1, 51)),
        with_rasterio("i32-planar", "i4", (5, 7, 3), interleave="band", compress="lzw", predictor=2),
        with_rasterio("u32-planar-tiles-big-endian", "u4", (19, 5, 2), interleave="band", tiled=True, blockxsize=16, blockysize=16, endianness="BIG", compress="deflate"),
        with_rasterio("u8-rotated", "u1", (2, 2, 1), crs="EPSG:32755", transform=rasterio.Affine(3, 1, 7, 2, -5, 9)),
        with_rasterio("u8-point", "u1", (2, 3, 1), **place),
        with_tifffile("i64", "<i8", (4, 3, 2), planarconfig="contig"),
        with_tifffile("i8-strips", "<i1", (7, 3, 1), rowsperstrip=2, compression="zlib"),
        with_tifffile("f32-planar", "<f4", (4, 3, 2), planarconfig="separate", rowsperstrip=3),
    ]


def nifti_case(name, kind, dtype, shape, axes, endianness="<", scale=None, quaternion=False, compress=False):
    data = sample(dtype, shape)
    affine = np.eye(4)
    affine[:3, :3] = np.eye(3)[:, axes] * [1, -1, 1] @ np.diag([0.5, 2, 3]) + rng.uniform(-0.1, 0.1, (3, 3))
    affine[:3, 3] = [10, -20, 30]
    header = kind.header_class(endianness=endianness)
    header.set_data_dtype(dtype)
    header["descrip"] = name.encode()
    image = kind(data, None if quaternion else affine, header=header)
    if quaternion:
        image.set_qform(affine, 1, strip_shears=True)
    path = FOLDER / "file.nii"
    nibabel.save(image, path)
    content = path.read_bytes()
    if scale:
        at, item = (112, "f4") if kind is nibabel.Nifti1Image else (176, "f8")
        content = content[:at] + np.array(scale, endianness + item).tobytes() + content[at + 2 * int(item[1]) :]
        path.write_bytes(content)
    read = nibabel.load(path)
    values = read.get_fdata()
    canonical = nibabel.as_closest_canonical(nibabel.Nifti1Image(values.reshape(values.shape + (1,) * (3 - values.ndim)), read.affine))
    return {
        "name": name,
        "file": (gzip.compress(content, mtime=0) if compress else content).hex(),
        "shape": list(values.shape) + [1] * (3 - values.ndim),
        "values": hexes(values.astype(np.float32)),
        "affine": hexes(read.affine[:3]),
        "orientation": "".join(nibabel.aff2axcodes(read.affine)),
        "ras_shape": list(canonical.shape),
        "ras_values": hexes(canonical.get_fdata().astype(np.float32)),
        "ras_affine": hexes(canonical.affine[:3]),
    }


def nifti_cases():
    one, two = nibabel.Nifti1Image, nibabel.Nifti2Image
    return [
        nifti_case("u8", one, "u1", (3, 4, 5), [0, 1, 2]),
        nifti_case("i16 scaled", one, "i2", (2, 3, 4), [2, 0, 1], scale=(0.25, -3)),
        nifti_case("f32 big endian", one, "f4", (3, 2, 2), [1, 0, 2], endianness=">"),
        nifti_case("f64 version 2", two, "f8", (2, 3, 2), [1, 2, 0], scale=(2.5, 1)),
        nifti_case("u16 version 2 big endian", two, "u2", (2, 2, 2, 3), [2, 1, 0], endianness=">"),
        nifti_case("quaternion", one, "i1", (3, 1, 2), [0, 2, 1], quaternion=True),
        nifti_case("flat", one, "i4", (3, 2), [0, 1, 2]),
        nifti_case("compressed", one, "u1", (4, 3, 2), [2, 1, 0], compress=True),
    ]


lines = {name: ",\n".join(json.dumps(case) for case in cases) for name, cases in (("tiff", tiff_cases()), ("nifti", nifti_cases()))}
(HERE / "images.json").write_text("{" + ",\n".join(f'"{name}": [\n{text}\n]' for name, text in lines.items()) + "}\n")
