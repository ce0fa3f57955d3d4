# SPDX-License-Identifier: Apache-2.0
"""What workbooks have besides cells, with the standard library: filters, frozen rows, pages, bars, links, charts."""

import re
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import dataclass, field

from workbook import ID_OF_RELATION, MAIN, Workbook, position

X14 = "{http://schemas.microsoft.com/office/spreadsheetml/2009/9/main}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


@dataclass
class Layout:
    frozen: int = 0  # rows that stay in sight
    filter: str = ""  # "A3:I26"
    titles: str = ""  # rows on each page: "$1:$3"
    keys: str = ""  # columns on each page: "$A:$B"
    area: str = ""  # of pages: "$A$1:$I$26"
    landscape: bool = False
    pages: tuple = None  # (wide, high) that it is fitted to; 0: any number
    paper: int = 0  # 9: A4
    scale: int = 100  # percent
    margins: dict = field(default_factory=dict)  # inches
    footer: str = ""
    breaks: list = field(default_factory=list)  # columns, from 1, after which a page ends
    bars: list = field(default_factory=list)  # ranges with bars that have a colour for negative numbers
    links: dict = field(default_factory=dict)  # (row, column) -> "'KernelCompare'!A5"
    charts: int = 0


def corners(reference):
    """((row, column), (row, column)) of "A3:I26"."""
    first, _, last = reference.replace("$", "").partition(":")
    return position(first), position(last or first)


def layouts(path):
    """{name of a sheet: Layout}"""
    with zipfile.ZipFile(path) as archive:
        parse = lambda name: ET.fromstring(archive.read(name))
        book = parse("xl/workbook.xml")
        targets = {relation.get("Id"): relation.get("Target") for relation in parse("xl/_rels/workbook.xml.rels")}
        names = [(sheet.get("name"), "xl/" + targets[sheet.get(ID_OF_RELATION)]) for sheet in book.iter(MAIN + "sheet")]
        found = {name: _layout(archive, parse, file) for name, file in names}
        for defined in book.iter(MAIN + "definedName"):
            text = re.sub(r"^('(?:[^']|'')*'|[^!]*)!", "", defined.text)
            layout = found[names[int(defined.get("localSheetId"))][0]]
            if defined.get("name") == "_xlnm.Print_Titles":
                layout.titles, layout.keys = (next(iter(re.findall(form, text)), "")
                                              for form in (r"\$\d+:\$\d+", r"\$[A-Z]+:\$[A-Z]+"))
            if defined.get("name") == "_xlnm.Print_Area":
                layout.area = text
    return found


def _layout(archive, parse, file):
    root, layout = parse(file), Layout()
    for pane in root.iter(MAIN + "pane"):
        if pane.get("state") == "frozen":
            layout.frozen = int(pane.get("ySplit", 0))
    for element in root.iter(MAIN + "autoFilter"):
        layout.filter = element.get("ref")
    fitted = any(element.get("fitToPage") == "1" for element in root.iter(MAIN + "pageSetUpPr"))
    for setup in root.iter(MAIN + "pageSetup"):
        layout.landscape = setup.get("orientation") == "landscape"
        layout.paper, layout.scale = int(setup.get("paperSize", 0)), int(setup.get("scale", 100))
        if fitted:
            layout.pages = (int(setup.get("fitToWidth", 1)), int(setup.get("fitToHeight", 1)))
    for margins in root.iter(MAIN + "pageMargins"):
        layout.margins = {side: float(inches) for side, inches in margins.attrib.items()}
    layout.footer = "".join(footer.text for footer in root.iter(MAIN + "oddFooter"))
    layout.breaks = [int(one.get("id")) for breaks in root.iter(MAIN + "colBreaks") for one in breaks]
    signed = {bar.find(f".//{X14}negativeFillColor") is not None for bar in root.iter(X14 + "dataBar")}
    for element in root.iter(MAIN + "conditionalFormatting"):
        if element.find(f".//{MAIN}dataBar") is not None and signed == {True}:
            layout.bars.append(element.get("sqref"))
    for link in root.iter(MAIN + "hyperlink"):
        layout.links[position(link.get("ref"))] = link.get("location")
    relations = re.sub(r"([^/]+)$", r"_rels/\1.rels", file)
    if relations in archive.namelist():
        for relation in parse(relations):
            if "drawing" in relation.get("Type") and "vml" not in relation.get("Target"):
                rels = "xl/drawings/_rels/" + relation.get("Target").rsplit("/", 1)[-1] + ".rels"
                charts = [ET.fromstring(archive.read("xl/charts/" + item.get("Target").rsplit("/", 1)[-1]))
                          for item in parse(rels)]
                layout.charts += sum(any(chart.iter(CHART + "barChart")) for chart in charts)
    return layout


def printed_width(width):
    """Points of a column of the width that is stored, at full size: digits of Calibri 11 have 7 pixels of 0.75 points."""
    return round(width * 7) * 0.75


def target_of(location):
    """(name of the sheet, row) of "'KernelCompare'!A5"."""
    name, _, cell = location.rpartition("!")
    return name.strip("'").replace("''", "'"), position(cell)[0]


def with_layouts(path):
    """[(sheet, Layout)] in their order."""
    found = layouts(path)
    return [(sheet, found[sheet.name]) for sheet in Workbook(path).sheets]
