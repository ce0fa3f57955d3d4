# SPDX-License-Identifier: Apache-2.0
"""What a PDF of LibreOffice shows, with the standard library: the sizes of its pages and of its letters."""

import math
import re
import zlib

NUMBERS = rb"[-\d. ]+"
OPERATORS = re.compile(rb"\b(q|Q)\b|(" + NUMBERS + rb") cm\b|/F\d+ ([\d.]+) Tf\b|(" + NUMBERS + rb") Tm\b|\b(Tj|TJ)\b")


def page_sizes(data):
    """[(width, height)] in points."""
    boxes = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]", data)
    count = len(re.findall(rb"/Type\s*/Page\b", data))
    return [(float(width), float(height)) for width, height in boxes][:count]


def letter_sizes(data):
    """The heights of all letters, in points."""
    sizes = set()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue  # an image or a font
        scale, outer, font, letters = 1.0, [], None, 1.0
        for saved, placed, size, matrix, shown in OPERATORS.findall(text):
            if saved == b"q":
                outer.append(scale)
            elif saved == b"Q":
                scale = outer.pop() if outer else 1.0
            elif placed:
                scale *= math.hypot(*map(float, placed.split()[-6:-4]))
            elif size:
                font, letters = float(size), 1.0
            elif matrix:
                letters = math.hypot(*map(float, matrix.split()[-4:-2]))
            elif shown and font:
                sizes.add(round(font * scale * letters, 1))
    return sizes
