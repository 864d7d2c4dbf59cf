"""One DuckDB file a study: schema.sql, views/*.sql (first line: the grain), checks/*.sql (rows: violations), loading."""
