"""What people may choose as a password."""
