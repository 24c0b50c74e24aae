"""Coming in and going out: the sign-in pages, sessions at the door, and signing in at a provider."""
