"""Numbers with intervals: pure functions, arrays in, Estimate out; one assumption a module."""
