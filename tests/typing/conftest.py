"""The checks need mypy and pyright, which only the extra `dev` installs."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("mypy") and find_spec("pyright") else ["test_typing.py"]
