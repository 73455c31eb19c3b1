"""Check that everything that names the version names the one that a tag releases.

python scripts/check_release.py v0.1.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "pyproject.toml": r'^version = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "CHANGELOG.md": r"^## \[(\d.*?)\]",
}


def mistakes(root: Path, version: str) -> list[str]:
    """A sentence for each file whose first version is another."""
    found = []
    for name, pattern in PLACES.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        written = match[1] if match else "no version"
        if written != version:
            found.append(f"{name} says {written}, and the release is {version}")
    return found


def main() -> None:
    if len(sys.argv) != 2 or not re.fullmatch(r"v\d+\.\d+\.\d+((a|b|rc)\d+)?", sys.argv[1]):
        sys.exit(__doc__)
    if found := mistakes(ROOT, sys.argv[1].removeprefix("v")):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
