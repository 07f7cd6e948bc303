"""The process behind `serve`: one thread that answers HTTP requests, one at a time, in their order.

Whoever connects meanwhile waits in the operating system's queue of this socket. Written for
`python -m`: it prints its port, and ends when its standard input does, so no parent leaves it behind.
"""

import http.server
import importlib
import json
import os
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class Server(http.server.HTTPServer):
    """One request after the other, and how long each kept the server busy."""

    request_queue_size = 1024  # requests that may wait; the default of 5 would refuse the rest

    def __init__(self, answer: Callable[[], object]) -> None:
        self.answer = answer
        self.busy: list[float] = []
        self.stop: tuple[float, float] | None = None  # when, and for how long
        super().__init__(("127.0.0.1", 0), Handler)

    def server_bind(self) -> None:
        """Bind without looking up a host name, which may wait for a network that is not there."""
        socketserver.TCPServer.server_bind(self)
        name, self.server_port = self.server_address[:2]
        self.server_name = str(name)

    def process_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any
    ) -> None:
        """Time everything that keeps others waiting, from accepting to closing."""
        begun, known = time.perf_counter(), len(self.busy)
        super().process_request(request, client_address)
        if len(self.busy) > known:
            self.busy[-1] = time.perf_counter() - begun

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any
    ) -> None:
        """Let go of a client who left before the answer; that is no fault of the server."""


class Handler(http.server.BaseHTTPRequestHandler):
    """`/` asks the model, `/heed` only if the client is still there when its turn comes.

    `/times` and `/pause/AFTER/SECONDS` are for whoever measures.
    """

    server: Server

    def do_GET(self) -> None:
        """Answer one request."""
        what, *rest = self.path.strip("/").split("/")
        if what == "times":
            self._say(json.dumps(self.server.busy))
            self.server.busy.clear()
        elif what == "pause":
            after, seconds = map(float, rest)
            self.server.stop = time.monotonic() + after, seconds
            self._say("planned")
        elif what != "heed" or not self._left():
            self.server.busy.append(0.0)
            self._pause()
            self.server.answer()
            self._say("answered")

    def _left(self):
        """Say whether the client has hung up: then the end of what it sent can be read already."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _pause(self):
        due = self.server.stop
        if due and time.monotonic() >= due[0]:
            self.server.stop = None
            time.sleep(due[1])

    def _say(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep quiet: printing takes longer than many an answer."""


def _main():
    name, arguments = sys.argv[1:]
    module, _, function = name.partition(":")
    answer = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    for _ in range(5):
        answer()  # the first calls load code and allocate memory
    server = Server(answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    os._exit(0)  # whatever the thread is doing


if __name__ == "__main__":
    _main()
