"""Settings: what the YAML files may say, checked before anything runs."""
