"""Signing in: pages, sessions, roles, and an OpenID Connect provider."""
