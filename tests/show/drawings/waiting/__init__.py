"""The drawings of the room `waiting`, each held against its source."""
