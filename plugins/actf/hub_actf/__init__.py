"""ACTF trajectories for Storyline hub."""

__all__: list[str] = []
