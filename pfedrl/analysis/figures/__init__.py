"""One module a table or figure: each has `draw`, from a Context to a Table or a Drawing."""
