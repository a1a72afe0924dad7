"""ATIF, Harbor's interchange format of agent trajectories, for Storyline hub."""

__all__: list[str] = []
