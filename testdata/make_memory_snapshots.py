#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes captures/memory_snapshots, of which the tests read. tests/support/snapshots.py says what is in each.

    make_memory_snapshots.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "tests" / "support"))
from snapshots import KEPT, write  # noqa: E402

for name, device in KEPT.items():
    write(HERE / "captures" / "memory_snapshots" / name, [device()])
