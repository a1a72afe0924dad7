"""Claude Code sessions for Storyline hub."""
