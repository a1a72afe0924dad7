"""OpenAI messages, training rows and chats, for Storyline hub."""

__all__: list[str] = []
