"""The drawings of the room `network`, each held against its source."""
