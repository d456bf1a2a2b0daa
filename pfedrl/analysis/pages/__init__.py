"""The pages: what was drawn, judged and compared, as a site that opens from a folder."""
