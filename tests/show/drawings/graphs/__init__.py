"""The drawings of the room `graphs`, each held against its source."""
