"""The server: origins, request bodies, uploads, and threads that hold campaigns."""
