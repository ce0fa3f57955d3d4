# SPDX-License-Identifier: Apache-2.0
"""Captures whose time is stretched, with work added where a fault asks for it. Every record that tells a time moves."""

from pathlib import Path

from .capture import DEVICE, HOST, Capture, Span  # noqa: F401: what users of the package need
from .database import DatabaseCapture
from .kineto import KinetoCapture
from .text import TextCapture


def load(path):
    """The capture at PATH: a trace of a GPU, or a directory *_ascend_pt."""
    path = Path(path)
    if path.is_file():
        return KinetoCapture(path)
    if any(path.glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db")):
        return DatabaseCapture(path)
    return TextCapture(path)
