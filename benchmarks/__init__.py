"""Speed and memory, as multiples of what cannot be avoided."""
