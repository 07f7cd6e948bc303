"""The drawings of the room `machines`, each held against its source."""
