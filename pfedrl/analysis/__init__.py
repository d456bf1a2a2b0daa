"""From artifacts to statistics, claims, tables, figures and the report."""
