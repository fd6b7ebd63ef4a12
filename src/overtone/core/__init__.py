"""The pure part of Overtone: no clock, no I/O, no threads, no hidden randomness."""
