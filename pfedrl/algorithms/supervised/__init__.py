"""Classification by workers with data of their own (DePRL): SGD in phases, and who mixes what."""
