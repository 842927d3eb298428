"""The part of an S3 server that uploads need: objects, parts, ranges, and failures on demand."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


class SmallS3:
    """What the server holds, and how it behaves."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.failures = 0
        """So many requests that write are answered with 403 from now on."""
        self.requests: list[str] = []
        self.signed = True
        self.port = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    held: SmallS3

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key, query = self._asked()
        if self.held.failures:
            self.held.failures -= 1
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif "uploadId" in query:
            self.held.parts[query["uploadId"][0]][int(query["partNumber"][0])] = body
            self._answer(200, etag='"part"')
        else:
            self.held.objects[key] = body
            self._answer(200, etag='"whole"')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key, query = self._asked()
        if "uploads" in query:
            upload = f"u{len(self.held.parts)}"
            self.held.parts[upload] = {}
            self._answer(200, _xml("InitiateMultipartUploadResult", Bucket="b", Key=key, UploadId=upload))
            return
        parts = self.held.parts.pop(query["uploadId"][0])
        self.held.objects[key] = b"".join(parts[number] for number in sorted(parts))
        fields = {"Location": key, "Bucket": "b", "Key": key, "ETag": '"whole"'}
        self._answer(200, _xml("CompleteMultipartUploadResult", **fields))

    def do_HEAD(self) -> None:
        key, _ = self._asked()
        self._answer(200 if key in self.held.objects else 404, self.held.objects.get(key, b""), is_head=True)

    def do_GET(self) -> None:
        key, _ = self._asked()
        data = self.held.objects.get(key)
        if data is None:
            self._answer(404, _xml("Error", Code="NoSuchKey"))
            return
        wanted = _RANGE.fullmatch(self.headers.get("Range", ""))
        if wanted is None:
            self._answer(200, data)
            return
        first, last = int(wanted[1]), min(int(wanted[2]), len(data) - 1)
        self._answer(206, data[first : last + 1], content_range=f"bytes {first}-{last}/{len(data)}")

    def _asked(self) -> tuple[str, dict[str, list[str]]]:
        parts = urlsplit(self.path)
        self.held.requests.append(f"{self.command} {parts.path}")
        self.held.signed &= "AWS4-HMAC-SHA256" in self.headers.get("Authorization", "")
        return unquote(parts.path).lstrip("/"), parse_qs(parts.query, keep_blank_values=True)

    def _answer(
        self, status: int, body: bytes = b"", *, etag: str = '"e"', content_range: str = "", is_head: bool = False
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", etag)
        self.send_header("Last-Modified", "Sun, 15 Nov 2026 12:00:00 GMT")
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        if not is_head:
            self.wfile.write(body)


def _xml(name: str, **fields: str) -> bytes:
    inside = "".join(f"<{key}>{value}</{key}>" for key, value in fields.items())
    return f"<{name}>{inside}</{name}>".encode()


@contextmanager
def small_s3() -> Iterator[SmallS3]:
    """A server that lives as long as the block."""
    held = SmallS3()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (_Answers,), {"held": held}))
    server.daemon_threads = True
    held.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
