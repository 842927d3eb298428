"""A proxy on loopback for the object storage library, which connects by itself: each connection, also after a redirect
or another answer of the name server, goes through the guarded dialer."""

from __future__ import annotations

import os
import socket
import socketserver
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from evercrawl.adapters.http.dialer import GuardedDialer
from evercrawl.errors import ConfigError
from evercrawl.model.settings import HttpSettings

MAX_HEAD_BYTES = 64 * 1024
CONNECT_TIMEOUT_S = 10.0
IDLE_TIMEOUT_S = 120.0
PIECE_BYTES = 256 * 1024
ROLE_HOSTS = frozenset({"169.254.169.254", "169.254.170.2"})
"""Where a machine in the cloud gets its keys; needed if the environment has none."""


class GuardedProxy:
    """Forwards requests to one endpoint and to public addresses; its threads end with the process."""

    def __init__(self, endpoint: str | None) -> None:
        """`endpoint`: the host that the user named; a private address that stands there is meant."""
        self._endpoint = endpoint
        self._server = _Server(("127.0.0.1", 0), _Client)
        self._server.proxy = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.refused: str | None = None  # Why the last connection was refused.
        threading.Thread(target=self._server.serve_forever, name="storage proxy", daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def connect(self, host: str, port: int) -> socket.socket:
        """Open a connection through the dialer."""
        is_role = host in ROLE_HOSTS and "AWS_ACCESS_KEY_ID" not in os.environ
        dialer = GuardedDialer(HttpSettings(), is_named=is_role or host == self._endpoint)
        try:
            return dialer.connect(host, port, timeout_s=CONNECT_TIMEOUT_S)
        except ConfigError as error:
            self.refused = str(error).partition(";")[0]
            raise


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64
    proxy: GuardedProxy


class _Client(socketserver.BaseRequestHandler):
    request: socket.socket
    server: _Server

    def handle(self) -> None:
        self.request.settimeout(IDLE_TIMEOUT_S)
        with suppress(OSError, ValueError):
            head, _, rest = self._read_head()
            method, target, version = head.split(b"\r\n", 1)[0].split(b" ")
            is_tunnel = method == b"CONNECT"
            parts = urlsplit(f"//{target.decode('ascii')}" if is_tunnel else target.decode("ascii"))
            try:
                there = self.server.proxy.connect(parts.hostname or "", parts.port or 80)
            except (ConfigError, OSError):
                self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            with there:
                there.settimeout(IDLE_TIMEOUT_S)
                if is_tunnel:
                    self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                else:
                    path = urlsplit("")._replace(path=parts.path or "/", query=parts.query).geturl().encode()
                    fields = head.partition(b"\r\n")[2]
                    # One request per connection, because the next one could be for another host.
                    there.sendall(
                        b" ".join((method, path, version)) + b"\r\nConnection: close\r\n" + fields + b"\r\n\r\n"
                    )
                there.sendall(rest)
                self._relay(there)

    def _read_head(self) -> tuple[bytes, bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.request.recv(PIECE_BYTES)
            if not piece or len(data) > MAX_HEAD_BYTES:
                raise ValueError("no request")
            data += piece
        return data.partition(b"\r\n\r\n")

    def _relay(self, there: socket.socket) -> None:
        up = threading.Thread(target=_copy, args=(self.request, there), daemon=True)
        up.start()
        _copy(there, self.request)
        with suppress(OSError):
            self.request.shutdown(socket.SHUT_RDWR)
        up.join(IDLE_TIMEOUT_S)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(PIECE_BYTES):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
