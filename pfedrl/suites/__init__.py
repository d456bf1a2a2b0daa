"""The benchmark: suites of tasks, everybody's scores on them, and the leaderboard."""
