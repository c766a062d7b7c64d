"""Hooks for third-party libraries, one file each. The rest of pycupel does not import them."""
