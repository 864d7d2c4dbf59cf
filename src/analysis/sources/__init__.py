"""Bytes in, rows out: one module a format. Nothing here interprets; names and units are in `engines`."""
