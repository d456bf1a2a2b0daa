"""Environment families: members that differ in one parameter, stacked over seeds and agents."""
