#!/usr/bin/env python3
"""Builds the Python package as a wheel: `viz/python/wheel.py LIBRARY VERSION FOLDER`. Needs nothing but Python.

A wheel is a zip (PEP 427): the package, libtilewalk.so, and the data that the library reads, beside three files about
them. The same input gives the same bytes."""

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import sys
import zipfile

DATA = re.compile(r"(assets/(?!pictures/|package/)|lessons/|kernels/cuda/|sim/algorithms/.*\.(walk|md)$|sim/l2/MODEL\.md$)")


def files(library):
    package = "viz/python/tilewalk"
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".typed")):
            yield f"tilewalk/{name}", os.path.join(package, name)
    yield "tilewalk/lib/libtilewalk.so", library
    listed = subprocess.run(["find", "assets", "lessons", "kernels/cuda", "sim", "-type", "f"], capture_output=True, text=True, check=True)
    for path in sorted(listed.stdout.split("\n")):
        if DATA.match(path) and (path.startswith("kernels/") or not path.endswith((".c", ".h"))):
            yield f"tilewalk/share/tilewalk/{path}", path


def main(library, version, folder):
    version = re.sub(r"-(\d+)-g([0-9a-f]+)$", r"+\1.g\2", version)  # PEP 440: a commit behind a tag is a local version
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"tilewalk-{version}.dist-info"
    about = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tilewalk\nVersion: {version}\n"
        "Summary: Walk through attention tile by tile and see where every byte goes\nLicense: MIT\nRequires-Python: >=3.9\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tilewalk\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    path = os.path.join(folder, f"tilewalk-{version}-{tag}.whl")
    record = []
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")

        for name, source in files(library):
            with open(source, "rb") as file:
                add(name, file.read())
        for name, text in about.items():
            add(name, text.encode())
        record.append(f"{info}/RECORD,,\n")
        entry = zipfile.ZipInfo(f"{info}/RECORD", (1980, 1, 1, 0, 0, 0))
        entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
        wheel.writestr(entry, "".join(record))
    os.replace(path + ".new", path)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    main(*sys.argv[1:])
