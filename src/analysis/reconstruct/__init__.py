"""Raw files from a table of figures: for an investigation whose figures were published and whose files were not."""
