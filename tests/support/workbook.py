# SPDX-License-Identifier: Apache-2.0
"""Reads .xlsx files with the standard library: values, and what a cell looks like."""

import re
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import dataclass, field

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ID_OF_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
BUILT_IN_FORMATS = {0: "General", 3: "#,##0", 4: "#,##0.00", 10: "0.00%"}


@dataclass
class Cell:
    value: object  # text, float, or None when blank
    style: int


@dataclass
class Sheet:
    name: str
    cells: dict = field(default_factory=dict)  # (row, column), both from 1 -> Cell
    merged: list = field(default_factory=list)
    widths: dict = field(default_factory=dict)  # column from 1 -> width as stored

    def rows(self):
        """Values row by row up to the last used column, None for blank."""
        if not self.cells:
            return []
        last_row, last_column = (max(key[i] for key in self.cells) for i in (0, 1))
        blank = Cell(None, 0)
        return [[self.cells.get((row, column), blank).value for column in range(1, last_column + 1)]
                for row in range(1, last_row + 1)]


def position(reference):
    """(row, column) of "B7"."""
    letters, digits = re.fullmatch(r"([A-Z]+)([0-9]+)", reference).groups()
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(digits), column


def text_of(element):
    return "".join(part.text or "" for part in element.iter(MAIN + "t"))


class Workbook:
    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self._names = archive.namelist()
            parse = lambda name: ET.fromstring(archive.read(name))
            self._texts = []
            if "xl/sharedStrings.xml" in self._names:
                self._texts = [text_of(item) for item in parse("xl/sharedStrings.xml")]
            self._styles = parse("xl/styles.xml")
            targets = {relation.get("Id"): relation.get("Target")
                       for relation in parse("xl/_rels/workbook.xml.rels")}
            self.sheets = [
                self._sheet(sheet.get("name"), parse("xl/" + targets[sheet.get(ID_OF_RELATION)]))
                for sheet in parse("xl/workbook.xml").iter(MAIN + "sheet")]

    def _sheet(self, name, root):
        sheet = Sheet(name)
        for column in root.iter(MAIN + "col"):
            for number in range(int(column.get("min")), int(column.get("max")) + 1):
                sheet.widths[number] = float(column.get("width"))
        for cell in root.iter(MAIN + "c"):
            sheet.cells[position(cell.get("r"))] = Cell(self._value(cell), int(cell.get("s", 0)))
        sheet.merged = [merged.get("ref") for merged in root.iter(MAIN + "mergeCell")]
        return sheet

    def _value(self, cell):
        kind, value = cell.get("t", "n"), cell.find(MAIN + "v")
        if cell.find(MAIN + "f") is not None:
            return "(a formula)"
        if kind == "inlineStr":
            return text_of(cell)
        if value is None:
            return None
        if kind == "s":
            return self._texts[int(value.text)]
        return float(value.text) if kind == "n" else value.text

    def look(self, style):
        """What a style number stands for: font, fill (RRGGBB or None), number format, alignment."""
        formats = {int(item.get("numFmtId")): item.get("formatCode")
                   for item in self._styles.iter(MAIN + "numFmt")}
        cell = self._styles.find(MAIN + "cellXfs")[style]
        font = self._styles.find(MAIN + "fonts")[int(cell.get("fontId"))]
        fill = self._styles.find(MAIN + "fills")[int(cell.get("fillId"))]
        border = self._styles.find(MAIN + "borders")[int(cell.get("borderId"))]
        color = fill.find(f"{MAIN}patternFill[@patternType='solid']/{MAIN}fgColor")
        number = int(cell.get("numFmtId"))
        alignment = cell.find(MAIN + "alignment")
        alignment = {} if alignment is None else alignment.attrib
        return {"font": font.find(MAIN + "name").get("val"),
                "size": float(font.find(MAIN + "sz").get("val")),
                "bold": font.find(MAIN + "b") is not None,
                "fill": None if color is None else color.get("rgb")[-6:],
                "format": formats.get(number) or BUILT_IN_FORMATS.get(number, f"number {number}"),
                "border": {side.get("style") for side in border if side.tag != MAIN + "diagonal"},
                "horizontal": alignment.get("horizontal"),
                "vertical": alignment.get("vertical"),
                "indent": int(alignment.get("indent", 0))}
