"""HTTP: the socket, the routes, and nothing that knows how an answer is made."""
