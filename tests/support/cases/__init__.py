# SPDX-License-Identifier: Apache-2.0
"""Captures with known causes, a healthy twin of each, and what a diagnosis has to say of them; see case.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "testdata"))  # large_job
