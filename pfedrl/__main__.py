"""`python -m pfedrl`: the same commands as `pfedrl`."""

from pfedrl.cli import main

main()
