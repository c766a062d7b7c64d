"""Hot loops: pure functions on plain lists of numbers, without items or classes."""
