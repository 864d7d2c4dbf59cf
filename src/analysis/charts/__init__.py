"""One function, one chart: a tidy frame in, an alt.Chart out. Nothing here reads or writes."""
