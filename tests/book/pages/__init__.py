"""What the extensions make of the pages."""
