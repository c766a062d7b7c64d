"""The pytest plug-in of pycupel."""
