"""All agents of all seeds in one stack: nets, exchanges, the loop, checkpoints."""
