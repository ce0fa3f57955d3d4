#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the package for pip:  make_wheel.py VERSION ARCHITECTURE TREE OUT

It holds the program of TREE/bin as msprof-analyze-native, which pip puts on the path; msprof-analyze, which starts it;
and a module that does, too: python -m msprof_analyze_native. There is nothing else of Python in it.

The Python tool's package, msprof-analyze, has a script of the name msprof-analyze as well. pip lets the package that is
installed last have it, and takes it away with either. No other package has msprof-analyze-native.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

MODULE = '''# SPDX-License-Identifier: Apache-2.0
"""Starts the program of this package:  python -m msprof_analyze_native ARGUMENTS"""

import os
import sys
import sysconfig


def program():
    for scheme in ("", f"{os.name}_user"):
        paths = {"scheme": scheme} if scheme else {}
        path = os.path.join(sysconfig.get_path("scripts", **paths), "msprof-analyze-native")
        if os.path.exists(path):
            return path
    raise SystemExit("msprof-analyze-native is not where pip puts programs; install the package again")


if __name__ == "__main__":
    os.execv(program(), ["msprof-analyze", *sys.argv[1:]])
'''
LAUNCHER = '''#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec "$(dirname -- "$(readlink -f -- "$0")")/msprof-analyze-native" "$@"
'''
NAME = "msprof_analyze_native"


def main(version, architecture, tree, out):
    tag = f"py3-none-manylinux2014_{architecture}"
    info = f"{NAME}-{version}.dist-info"
    launcher = f"{NAME}-{version}.data/scripts/msprof-analyze"
    program = f"{launcher}-native"
    document = Path(tree) / "share/doc/msprof-analyze"
    files = {program: (Path(tree) / "bin/msprof-analyze").read_bytes(), launcher: LAUNCHER.encode(),
             f"{NAME}/__init__.py": b"", f"{NAME}/__main__.py": MODULE.encode(),
             f"{info}/METADATA": (f"Metadata-Version: 2.1\nName: msprof-analyze-native\nVersion: {version}\n"
                                  "Summary: Command-line analyzer for Ascend NPU profiles\n"
                                  "License: Apache-2.0\nRequires-Python: >=3.6\n").encode(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
             f"{info}/sbom.cdx.json": (document / "sbom.cdx.json").read_bytes(),
             f"{info}/LICENSE": (document / "LICENSE").read_bytes()}
    for licence in sorted((document / "licences").iterdir()):
        files[f"{info}/licences/{licence.name}"] = licence.read_bytes()
    record = ""
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(Path(out) / f"{NAME}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in (program, launcher) else 0o100644) << 16
            wheel.writestr(entry, content)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
