#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults into real captures, and changes them without harm.

    plant.py --data DIR --dst DIR [--only PATTERN] [--list]

Each plant becomes DST/<name>/new, beside DST/<name>/old, which is the capture as it was, written the same way, and
DST/<name>/truth.json: what a diagnosis has to say (planted_faults.py).
"""

import argparse
import fnmatch
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent))

from planted_faults import FAULTS  # noqa: E402: found only now


def plant(name, data, target):
    """Writes TARGET/old, TARGET/new and the truth."""
    shutil.rmtree(target, ignore_errors=True)
    load, change, arguments = FAULTS[name]
    load(data).write(target / "old")
    job = load(data)
    truth = change(job, **arguments)
    job.write(target / "new")
    (target / "truth.json").write_text(json.dumps(asdict(truth), indent=1), encoding="utf-8")
    return truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--dst", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    for name in fnmatch.filter(FAULTS, args.only):
        if args.list or not args.dst:
            print(name, FAULTS[name][1].__name__, FAULTS[name][2])
        else:
            print(name, plant(name, args.data, args.dst / name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
