"""The named algorithms, one file each: a learner plus an exchange."""
