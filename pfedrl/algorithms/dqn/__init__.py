"""Deep value learning with discrete actions."""
