"""Any environment that gymnasium can make."""
