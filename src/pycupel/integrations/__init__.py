"""Hooks for third-party libraries, one file each. The rest of pycupel does not import them.

Types are checked where the libraries are missing, so pyright is told not to look for them.
"""
