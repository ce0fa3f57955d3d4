# SPDX-License-Identifier: Apache-2.0
"""What captures tell of the tensors of kernels."""

from dataclasses import dataclass

from .files import ns


@dataclass
class Tensors:
    """Texts of the capture, without quotes around them; empty where nothing is recorded."""
    input_shapes: str = ""
    output_shapes: str = ""
    input_types: str = ""
    input_formats: str = ""
    output_formats: str = ""
    hf32: str = ""


def tensors_of(capture):
    """A function that gives those of a kernel."""
    if capture.kind == "db":
        found = _of_database(capture)
        return lambda kernel: found[kernel.id]
    found = {(row["Name"], row.get("Stream ID") or "", ns(row["Start Time(us)"])): _of_row(row)
             for row in capture.csv("kernel_details.csv")}
    return lambda kernel: found[kernel.name, str(kernel.stream or ""), kernel.start]


def _text(cell):
    return "" if cell in (None, "N/A") else cell.strip('"')


def _of_database(capture):
    columns = ("inputShapes", "outputShapes", "inputDataTypes", "inputFormats", "outputFormats",
               "hf32Eligible")
    found = {}
    if capture.has_table("COMPUTE_TASK_INFO"):
        for row in capture.rows("SELECT * FROM COMPUTE_TASK_INFO"):
            cells = [capture.texts.get(row[column]) if column in row.keys() else None
                     for column in columns]
            found[row["globalTaskId"]] = Tensors(*map(_text, cells))
    return found


def _of_row(row):
    columns = ("Input Shapes", "Output Shapes", "Input Data Types", "Input Formats",
               "Output Formats", "HF32 Eligible")
    return Tensors(*(_text(row.get(column)) for column in columns))
