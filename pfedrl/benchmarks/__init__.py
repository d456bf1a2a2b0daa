"""Speed, always as a ratio of two ways to do the same work in one process."""
