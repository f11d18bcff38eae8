"""The sample report page, checked from outside: XML, escaping, images, colours, text tables."""

import base64
import itertools
import os
import pathlib
import re
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
import zlib

import numpy
import pytest

BUILD = pathlib.Path(os.environ.get("MODEWISE_BUILD", pathlib.Path(__file__).parents[2] / "build"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    output = subprocess.run([BUILD / "bin" / "report_sample", folder], check=True, capture_output=True, text=True)
    return folder, output.stdout


@pytest.mark.parametrize("name", ["lines.svg", "bars.svg", "heat.svg", "panels.svg", "kronecker_attention.svg"])
def test_figures_are_well_formed_and_finite(sample, name):
    root = ElementTree.parse(sample[0] / name).getroot()
    assert root.tag == SVG + "svg"
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter(SVG + "text"):
        assert -1 <= float(element.get("x")) <= width + 1
        assert -1 <= float(element.get("y")) <= height + 1
    for element in root.iter():
        for value in element.attrib.values():
            assert not re.search(r"\b(nan|inf)\b", value)


def page_root(sample):
    html = (sample[0] / "page.html").read_text(encoding="utf-8")
    return ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))


def test_page_is_well_formed_and_has_no_script(sample):
    root = page_root(sample)
    tags = {element.tag.rsplit("}")[-1] for element in root.iter()}
    assert "script" not in tags
    assert {"h1", "nav", "dl", "figure", "figcaption", "table", "svg", "details"} <= tags
    assert root.find("head/title").text == "Oil temperature forecast <ETTh1>"
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name in ("href", "src"):
                assert value.startswith(("#", "data:image/png;base64,"))


def test_contents_and_ids(sample):
    root = page_root(sample)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    links = [element.get("href")[1:] for element in root.iter("a")]
    assert links and set(links) <= set(ids)
    references = re.findall(r"url\(#([^)]+)\)", ElementTree.tostring(root, encoding="unicode"))
    assert references and set(references) <= set(ids)


def test_page_is_small(sample):
    assert (sample[0] / "page.html").stat().st_size < 400_000


def decode_palette_png(data):
    """Width, height, indices and palette of an 8-bit palette PNG; checks every chunk's sum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    width, height, depth, color, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, color) == (8, 3)
    rows = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), numpy.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:], numpy.frombuffer(chunks[b"PLTE"], numpy.uint8).reshape(-1, 3)


def test_attention_images_hold_the_values(sample):
    images = [image.get("href") for image in page_root(sample).iter(SVG + "image")]
    assert len(images) == 8
    maps = []
    for head in range(1, 9):
        gap = abs(numpy.arange(96)[:, None] - numpy.arange(96)[None, :])
        period = 2.0 + head
        scores = numpy.exp(1.5 * numpy.cos(2 * numpy.pi * gap / period) - gap * 0.6 / period)
        maps.append(scores / scores.sum(1, keepdims=True))
    low, high = min(m.min() for m in maps), max(m.max() for m in maps)
    for href, expected in zip(images, maps):
        indices, palette = decode_palette_png(base64.b64decode(href.split(",")[1]))
        assert len(palette) == 256
        assert numpy.abs(indices - (expected - low) / (high - low) * 254).max() <= 0.51


def to_lab(colors):
    """CIELAB (D65) of sRGB colours given as [n, 3] in 0..1."""
    linear = numpy.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return linear_to_lab(linear)


def linear_to_lab(linear):
    matrix = numpy.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    scaled = linear.clip(0, 1) @ matrix.T / numpy.array([0.95047, 1.0, 1.08883])
    f = numpy.where(scaled > (6 / 29) ** 3, numpy.cbrt(scaled), scaled / (3 * (6 / 29) ** 2) + 4 / 29)
    return numpy.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


def hex_colors(names):
    return numpy.array([[int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)] for name in names])


def test_sequential_scale_has_even_steps(sample):
    gradient = next(page_root(sample).iter(SVG + "linearGradient"))
    lab = to_lab(hex_colors([stop.get("stop-color") for stop in gradient]))
    assert len(lab) == 17
    steps = numpy.linalg.norm(numpy.diff(lab, axis=0), axis=1)
    assert steps.max() / steps.min() < 2.2
    assert (numpy.diff(lab[:, 0]) < 0).all()


# Machado, Oliveira and Fernandes (2009), severity 1, in linear RGB.
COLOR_VISION = {
    "normal": numpy.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("vision", COLOR_VISION)
@pytest.mark.parametrize("screen", ["light", "dark"])
def test_series_colors_stay_apart(sample, screen, vision):
    text = (sample[0] / "lines.svg").read_text(encoding="utf-8")
    dark = re.findall(r"svg\.mw \.f([0-6])\{fill:(#[0-9a-f]{6})\}", text)
    assert len(dark) == 7
    light = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4a5010"]
    colors = hex_colors(light if screen == "light" else [name for _, name in dark])
    linear = numpy.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    lab = linear_to_lab(linear @ numpy.array(COLOR_VISION[vision]).T)
    closest = min(numpy.linalg.norm(a - b) for a, b in itertools.combinations(lab, 2))
    assert closest > 9  # about four times what the eye can just tell


def test_text_tables(sample):
    lines = sample[1].splitlines()
    assert lines[0].split() == ["model", "parameters", "MSE", "MAE", "coverage", "80", "%"]
    assert lines[2].startswith("hot (product)") and lines[2].count("*") == 2
    assert "<script>" in lines[6]  # plain text is left as it is on the terminal
    assert r"repeat \<script\>alert(1)\</script\>" in sample[1]


def test_the_figure_of_the_readme_is_what_the_program_draws(sample):
    kept = pathlib.Path(__file__).parents[2] / "docs" / "images" / "kronecker_attention.svg"
    assert kept.read_text(encoding="utf-8") == (sample[0] / kept.name).read_text(encoding="utf-8")
