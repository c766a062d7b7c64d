"""What all tests share."""

from __future__ import annotations

# For the tests of the plug-in. pytest wants it here, at the top.
pytest_plugins = ["pytester"]
