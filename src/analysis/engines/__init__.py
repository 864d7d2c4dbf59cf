"""What each engine calls things: one folder an engine, tables in TOML (metrics, boot lines, known defects). Data, not code."""
