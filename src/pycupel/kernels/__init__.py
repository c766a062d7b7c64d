"""The hot loops, as pure functions on plain lists of numbers. No items, no classes."""
