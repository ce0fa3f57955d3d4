#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the static program is made of.

    components.py licences FOLDER                     writes the licence of each part
    components.py sbom VERSION ARCHITECTURE PROGRAM   prints a CycloneDX document

Versions and licences are those of Debian's packages on this machine, and of packaging/sources.sha256.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "build/package/sources"

# Name, licence (SPDX), the package of Debian whose copyright file holds for it, the pinned source package.
PARTS = (
    ("glibc", "LGPL-2.1-or-later", "libc6", None),
    ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "libstdc++6", None),
    ("fmt", "MIT", None, "fmtlib"),
    ("simdjson", "Apache-2.0", None, "simdjson"),
    ("libxlsxwriter", "BSD-2-Clause AND Zlib AND MPL-2.0", None, "libxlsxwriter"),
    ("sqlite", "blessing", "libsqlite3-dev", None),
    ("libedit", "BSD-3-Clause", "libedit-dev", None),
    ("ncurses", "X11-distribute-modifications-variant", "libncurses-dev", None),
    ("libbsd", "BSD-3-Clause AND BSD-2-Clause AND ISC", "libbsd-dev", None),
    ("zlib", "Zlib", "zlib1g-dev", None),
    ("nlohmann-json", "MIT", "nlohmann-json3-dev", None),
    ("CLI11", "BSD-3-Clause", "libcli11-dev", None),
    ("fast-cpp-csv-parser", "BSD-3-Clause", "libfccp-dev", None),
    ("d3", "BSD-3-Clause", "node-d3", None),
)


def version_of(package, pinned):
    if package:
        return subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, capture_output=True,
                              encoding="utf-8").stdout
    (version,) = [line.split(f"{pinned}_")[1].removesuffix(".dsc") for line in pinned_lines(pinned)
                  if line.endswith(".dsc")]
    return version


def pinned_lines(source):
    lines = (HERE / "sources.sha256").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if f"  {source}_" in line]


def write_licences(folder):
    folder.mkdir(parents=True)
    for name, _, package, pinned in PARTS:
        file = Path(f"/usr/share/doc/{package}/copyright") if package else SOURCES / pinned / "debian/copyright"
        shutil.copyfile(file, folder / f"{name}.txt")
    lines = [f"{name:20} {version_of(package, pinned):24} {licence}" for name, licence, package, pinned in PARTS]
    (folder / "README.txt").write_text(
        "The program msprof-analyze has the licence Apache-2.0. These libraries are in it, each with the licence\n"
        "in the file of its name:\n\n" + "\n".join(lines) + "\n\n"
        "glibc is linked statically. Whoever wants another version of it in the program builds the program anew\n"
        "from its sources with scripts/package.sh.\n", encoding="utf-8")


def sbom(version, architecture, program):
    components = []
    for name, licence, package, pinned in PARTS:
        component = {"type": "library", "name": name, "version": version_of(package, pinned),
                     "licenses": [{"expression": licence}],
                     "purl": f"pkg:deb/debian/{package or pinned}@{version_of(package, pinned)}?distro=bookworm"}
        if pinned:
            component["properties"] = [
                {"name": f"sha256:{line.split()[1]}", "value": line.split()[0]} for line in pinned_lines(pinned)]
        components.append(component)
    time = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "component": {
                    "type": "application", "name": "msprof-analyze", "version": version,
                    "licenses": [{"license": {"id": "Apache-2.0"}}],
                    "properties": [{"name": "architecture", "value": architecture}],
                    "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(Path(program).read_bytes()).hexdigest()}]}},
            "components": components}


def main(arguments):
    if arguments[:1] == ["licences"] and len(arguments) == 2:
        write_licences(Path(arguments[1]))
    elif arguments[:1] == ["sbom"] and len(arguments) == 4:
        print(json.dumps(sbom(*arguments[1:]), indent=1))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
