"""The drawings of the room `deciding`, each held against its source."""
