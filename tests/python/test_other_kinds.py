"""Files of other formats, as their own libraries write them, are named where a table is expected, with what to do; a table that
begins as such a format may is read."""

import bz2
import gzip
import io
import json
import lzma
import pathlib
import sqlite3
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import torch
from cli_helpers import fails, ok
from PIL import Image
from safetensors.numpy import save_file

FRAME = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=60), "value": np.arange(60.0)})
CSV = FRAME.to_csv(index=False).encode()


def tar(path, form):
    with tarfile.open(path, "w", format=form) as archive:
        member = tarfile.TarInfo("table.csv")
        member.size = len(CSV)
        archive.addfile(member, io.BytesIO(CSV))


def archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv", CSV)


def database(path):
    with sqlite3.connect(path) as connection:
        FRAME.to_sql("table", connection)
    connection.close()


def net_cdf(path, version):
    with scipy.io.netcdf_file(path, "w", version=version) as file:
        file.createDimension("row", 60)
        file.createVariable("value", "d", ("row",))[:] = FRAME["value"].to_numpy()


def matlab(path):
    scipy.io.savemat(path, {"value": FRAME["value"].to_numpy()})


def image(path):
    Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)).save(path)


KINDS = {  # name: writer, words
    "table.csv.gz": (lambda path: path.write_bytes(gzip.compress(CSV)), "a gzip file; unpack it with gunzip"),
    "table.csv.bz2": (lambda path: path.write_bytes(bz2.compress(CSV)), "a bzip2 file; unpack it with bunzip2"),
    "table.csv.xz": (lambda path: path.write_bytes(lzma.compress(CSV)), "an xz file; unpack it with unxz"),
    "table.zip": (archive, "a ZIP archive"),
    "gnu.tar": (lambda path: tar(path, tarfile.GNU_FORMAT), "a tar archive; unpack it with tar xf"),
    "pax.tar": (lambda path: tar(path, tarfile.PAX_FORMAT), "a tar archive; unpack it with tar xf"),
    "table.pkl": (FRAME.to_pickle, "a Python pickle; write it as CSV in Python"),
    "table.dta": (lambda path: FRAME.to_stata(path, version=118), "a Stata file; write it as CSV, in Python pandas.read_stata(file)"),
    "table.html": (FRAME.to_html, "an HTML table; write it as CSV, in Python pandas.read_html(file)[0].to_csv(…)"),
    "table.db": (database, "an SQLite database; export the table as CSV"),
    "classic.nc": (lambda path: net_cdf(path, 1), "a netCDF file; write it as CSV, in Python xarray.open_dataset(file)"),
    "large.nc": (lambda path: net_cdf(path, 2), "a netCDF file; write it as CSV, in Python xarray.open_dataset(file)"),
    "table.mat": (matlab, "a MATLAB file; write it as CSV or NPY, in Python with scipy.io.loadmat(file)"),
    "weights.pt": (lambda path: torch.save({"x": torch.ones(3)}, path), "a ZIP archive"),
    "weights.safetensors": (lambda path: save_file({"x": np.ones(3)}, path), "a safetensors file"),
    "picture.bmp": (image, "a BMP image"),
    "picture.gif": (image, "a GIF image"),
    "picture.webp": (image, "a WebP image"),
    "picture.pdf": (image, "a PDF document"),
    # Without a writer here: the first bytes that their documents give.
    "table.sav": (lambda path: path.write_bytes(b"$FL2@(#) SPSS DATA FILE" + bytes(200)), "an SPSS file; write it as CSV, in Python pandas.read_spss(file)"),
    "table.sas7bdat": (lambda path: path.write_bytes(bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf" + bytes(200)),
                       "a SAS file; write it as CSV, in Python pandas.read_sas(file)"),
    "table.xpt": (lambda path: path.write_bytes(b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!".ljust(240) + bytes(80)), "a SAS transport file"),
    "table.rda": (lambda path: path.write_bytes(b"RDX3\nX\n" + bytes(200)), "an R file; write it as CSV in R"),
    "volume.dcm": (lambda path: path.write_bytes(bytes(128) + b"DICM" + bytes(200)), "a DICOM file; write it as NIfTI"),
    "volume.nrrd": (lambda path: path.write_bytes(b"NRRD0004\ntype: float\n\n" + bytes(200)), "an NRRD volume; write it as NIfTI"),
    "volume.mha": (lambda path: path.write_bytes(b"ObjectType = Image\nNDims = 3\n" + bytes(200)), "a MetaImage volume; write it as NIfTI"),
    "weather.grib": (lambda path: path.write_bytes(b"GRIB\0\0\0\2" + bytes(200)), "a GRIB file; write it as CSV"),
    "sky.fits": (lambda path: path.write_bytes(b"SIMPLE  =                    T".ljust(2880) + bytes(80)), "a FITS file; write it as CSV"),
    "model.gguf": (lambda path: path.write_bytes(b"GGUF\3\0\0\0" + bytes(200)), "a GGUF model"),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_file_of_another_kind_is_named(name, tmp_path):
    write, words = KINDS[name]
    path = pathlib.Path(tmp_path / name)
    write(path)
    assert f"{name}: expected text, got {words}" in fails(65, arguments=["data", "show", path])


def test_other_bytes_are_no_text(tmp_path):
    path = tmp_path / "table.bin"
    path.write_bytes(b"\0\0\1\2\0\0\3\4" * 100)
    assert fails(65, arguments=["data", "show", path]).endswith("table.bin:1: NUL at byte 0: not a text file")


@pytest.mark.parametrize("names", ["PAR1,PAR2", "BMI,age", "ORC,PARE", "GRIB,FEA1", "Rar,7z", "MATLAB,NRRD", "SIMPLE,CDF", "RIFF,ustar"])
def test_a_table_whose_names_begin_as_a_format_is_read(names, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"{names}\n" + "".join(f"{i},{i * i}\n" for i in range(60)))
    assert names.split(",")[0] in ok("data", "show", path).stdout


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a2146' * 8}\nsize 12345\n"


@pytest.mark.parametrize("name, command, wanted", [
    ("values.npy", ["data", "show"], "an NPY array"), ("values.npz", ["data", "show"], "an NPZ (ZIP) archive"),
    ("brain.nii", ["data", "show"], "a NIfTI volume"), ("brain.nii.gz", ["data", "show"], "a NIfTI volume"),
    ("lines.jsonl", ["data", "show"], "lines of JSON"), ("tokenizer.json", ["tokenize", "--tokenizer"], "a tokenizer.json"),
    ("tokenizer.model", ["tokenize", "--tokenizer"], "a sentencepiece model"), ("tokenizer.bin", ["tokenize", "--tokenizer"], "a llama2.c tokenizer"),
])  # fmt: skip
def test_a_pointer_of_git_lfs_is_named(name, command, wanted, tmp_path):
    path = tmp_path / name
    path.write_text(POINTER)
    text = tmp_path / "words.txt"
    text.write_text("some words\n")
    more = [text] if command[0] == "tokenize" else []
    assert f"{name}: expected {wanted}, got a Git LFS pointer, not the file itself (git lfs pull)" in fails(65, arguments=[*command, path, *more])


def test_weights_that_are_a_pointer_of_git_lfs_are_named(tmp_path):
    config = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16, "vocab_size": 32}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_text(POINTER)
    assert "model.safetensors: expected a safetensors file, got a Git LFS pointer" in fails(65, arguments=["generate", tmp_path, "--prompt", "x"])
