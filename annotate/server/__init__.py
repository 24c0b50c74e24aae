"""The server: the ASGI application, what it lets in, and the threads that hold campaigns."""
