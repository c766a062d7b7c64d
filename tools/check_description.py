"""`python tools/check_description.py WHEEL TREE`: whether a wheel's description links to files of its version."""

from __future__ import annotations

import re
import sys
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

LINK = re.compile(r"""\]\(([^)\s]+)\)|\b(?:src|srcset|href)=["']([^"']+)["']""")
OURS = re.compile(
    r"https://(?:github\.com/pycupel/pycupel/blob|raw\.githubusercontent\.com/pycupel/pycupel)/v([^/]+)/([^#]+)"
)


def problems(description: str, version: str, tree: Path) -> list[str]:
    """What is wrong with the links."""
    # What stands in a block of code is no link.
    text = re.sub(r"(?ms)^```.*?^```$", "", description)
    links = [one or other for one, other in LINK.findall(text)]
    found = [] if len(links) > 10 else [f"only {len(links)} links"]
    for link in links:
        ours = OURS.match(link)
        if ours is None:
            if not link.startswith(("https://", "#")):
                found.append(f"{link} is relative, and PyPI has no such file")
        elif ours[1] != version:
            found.append(f"{link} is not of version {version}")
        elif not (tree / ours[2]).is_file():
            found.append(f"{link}: there is no {ours[2]}")
    return found


def main(wheel: str, tree: str) -> None:
    with ZipFile(wheel) as archive:
        [name] = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        metadata = message_from_string(archive.read(name).decode())
    found = problems(str(metadata.get_payload()), metadata["Version"], Path(tree))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
