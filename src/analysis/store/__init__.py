"""One DuckDB file a study: schema.sql, views/*.sql (line one: the grain), checks/*.sql (rows: violations), loading."""
