"""The drawings of the room `scaling`, each held against its source."""
