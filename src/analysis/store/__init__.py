"""One DuckDB file a study: schema.sql, loading, views/*.sql (first line = the grain), checks/*.sql (violations)."""
