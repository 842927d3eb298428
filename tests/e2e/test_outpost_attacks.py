"""Unauthenticated messages have no effect: a real coordinator behind TLS against recorded and forged bytes."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

from evercrawl.adapters.system import SystemClock
from evercrawl.collection.outposts import create_pairing_code, list_outposts
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us
from evercrawl.outpost.agent import _check_lease
from evercrawl.outpost.agent_builder import AgentOptions, run_outpost
from evercrawl.outpost.answers import encode_answer
from evercrawl.outpost.channel import (
    CHANNEL_ERRORS,
    MAX_FRAME_BYTES,
    Credentials,
    NotAuthentic,
    SecureChannel,
    authenticate_agent,
    connect_to_coordinator,
)
from evercrawl.outpost.coordinator import MAX_STRANGERS_PER_ADDRESS, Coordinator
from evercrawl.outpost.messages import (
    MAX_RESULTS,
    Acknowledgement,
    AgentReady,
    FetchJob,
    Heartbeat,
    JobBatch,
    JobResult,
    LeaseRenewal,
    ResultBatch,
    ResultKind,
    Welcome,
)
from evercrawl.outpost.pairing import certificate_pin, coordinator_certificate, outpost_key, parse_code
from evercrawl.outpost.remote_outpost import MAX_BATCH_PLAIN_BYTES, BatchDecoder, SentRequest

SITE = "http://site.example"
NONCE = bytes(32)


class NoWeb:
    """A direct fetcher that records its requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, request: Request) -> FetchResult:
        self.asked.append(request.url)
        return Failed(request.url, Fault.CONNECT, "no web here", timedelta(0))

    async def close(self) -> None:
        pass


class Scene:
    """A coordinator with one unused pairing code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = create_pairing_code(folder, name="one", routes=["site.example"], valid_for=timedelta(hours=1))
        self.code = parse_code(text)
        self.web = NoWeb()
        settings = Settings()
        settings = replace(settings, outposts=replace(settings.outposts, lease_timeout=timedelta(seconds=30)))
        self.coordinator = Coordinator(folder, settings, SystemClock(), direct=self.web)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.coordinator.listen(f"127.0.0.1:{self.port}", folder)

    def credentials(self, *, pairing: bool = True, nonce: bytes = NONCE) -> Credentials:
        key = outpost_key(self.code.key, nonce)
        return Credentials(self.code.name, key, nonce, self.code.key if pairing else None)

    async def connect(self, credentials: Credentials) -> SecureChannel:
        await asyncio.sleep(0)
        channel = await connect_to_coordinator(f"127.0.0.1:{self.port}", self.code.pin)
        await authenticate_agent(channel, credentials)
        return channel

    async def join(self, credentials: Credentials | None = None) -> tuple[SecureChannel, Welcome]:
        channel = await self.connect(credentials or self.credentials())
        welcome = await asyncio.wait_for(channel.receive(), 5)
        assert isinstance(welcome, Welcome)
        return channel, welcome

    def counts(self) -> dict[str, int]:
        row = self.coordinator.state.outposts()
        return self.coordinator.state.counts(row[0].id) if row else {}


@asynccontextmanager
async def _scene(folder: Path) -> AsyncIterator[Scene]:
    scene = Scene(folder)
    await asyncio.sleep(0.05)
    try:
        yield scene
    finally:
        await scene.coordinator.close()


def _run(folder: Path, play: Callable[[Scene], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with _scene(folder) as scene:
            await play(scene)

    asyncio.run(whole())


def _result(job: FetchJob, body: bytes) -> JobResult:
    raw = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    exchange = Exchange(b"GET", raw, body, None, datetime.now(UTC), timedelta(milliseconds=1))
    result = Fetched(job.url, 200, (), body, exchange)
    return encode_answer(job, result, exchange, kind=ResultKind.FIRST, shared=None)


async def _job(channel: SecureChannel) -> FetchJob:
    while True:
        message = await asyncio.wait_for(channel.receive(), 5)
        if isinstance(message, JobBatch):
            return message.jobs[0]


async def _assert_closed(channel: SecureChannel) -> None:
    """Assert that the coordinator closes the connection without a reply."""
    with pytest.raises(CHANNEL_ERRORS):
        await asyncio.wait_for(channel.receive(), 5)
    channel.close()


def test_a_repeated_batch_is_stored_once(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        await channel.send(AgentReady((), 8))
        asked = asyncio.create_task(scene.coordinator.fetch(Request(f"{SITE}/a")))
        job = await _job(channel)
        await channel.send(Heartbeat(1))
        batch = ResultBatch(1, (_result(job, b"hello"),))
        await channel.send(batch)
        result = await asyncio.wait_for(asked, 5)
        assert isinstance(result, Fetched)
        assert result.body == b"hello"
        before = scene.counts()
        await channel.send(batch)
        again, welcome = await scene.join(scene.credentials(pairing=False))
        assert welcome.acknowledged == 1
        late = batch.items[0]._replace(run=scene.coordinator.run, url=f"{SITE}/a")
        await again.send(ResultBatch(1, (late,)))
        assert await asyncio.wait_for(again.receive(), 5) == Acknowledgement(1)
        after = scene.counts()
        assert after["whole"] == before["whole"] == 1
        again.close()

    _run(tmp_path, play)


def test_recorded_forged_truncated_and_oversized_frames_have_no_effect(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        signer = channel._signer
        assert signer is not None
        await channel.send(AgentReady((), 8))
        recorded = signer.sign(b"")  # advances the sequence, so the next frame is out of order
        channel.close()

        async def say(content: bytes, *, announce: int | None = None) -> None:
            stranger, _ = await scene.join(scene.credentials(pairing=False))
            size = len(content) if announce is None else announce
            stranger._writer.write(size.to_bytes(4, "big") + content)
            if announce is not None and announce > len(content) and announce < MAX_FRAME_BYTES:
                stranger._writer.close()  # truncated
            await _assert_closed(stranger)

        forged = ResultBatch(1, (_result(FetchJob(1, f"{SITE}/a"), b"evil")._replace(run="x", url=f"{SITE}/a"),))
        from evercrawl.outpost.messages import encode_message

        await say(recorded)
        await say(bytes(16) + encode_message(forged))
        await say(encode_message(forged), announce=5000)
        await say(b"", announce=MAX_FRAME_BYTES + 1)
        assert list_outposts(scene.folder)[0].counts["whole"] == 0
        assert scene.coordinator.state.result_urls() == set()
        assert (await scene.coordinator.fetch(Request("http://other.example/"))).url == "http://other.example/"

    _run(tmp_path, play)


def test_a_recorded_conversation_cannot_be_replayed(tmp_path: Path) -> None:
    """Replay the same bytes against a new challenge, the most that an eavesdropper inside TLS could do."""

    async def play(scene: Scene) -> None:
        said: list[bytes] = []
        channel = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
        write = channel._writer.write

        def overheard(data: bytes) -> None:
            said.append(data)
            write(data)

        channel._writer.write = overheard  # type: ignore[method-assign]
        await authenticate_agent(channel, scene.credentials())
        assert isinstance(await channel.receive(), Welcome)
        await channel.send(Heartbeat(1))
        assert isinstance(await channel.receive(), LeaseRenewal)
        channel.close()
        seen = scene.coordinator.state.outposts()[0].seen_us
        await asyncio.sleep(0.01)
        thief = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
        for data in said:
            thief._writer.write(data)
        await thief.receive_plain(4096)
        await _assert_closed(thief)
        assert scene.coordinator.state.outposts()[0].seen_us == seen

    _run(tmp_path, play)


def test_wrong_keys_used_codes_and_expired_codes_are_rejected(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        channel.close()
        wrong = scene.credentials(pairing=False)._replace(key=bytes(32))
        used = scene.credentials(nonce=b"n" * 32)
        unknown = scene.credentials(pairing=False)._replace(outpost="0123456789abcdef")
        for credentials in (wrong, used, unknown):
            await _assert_closed(await scene.connect(credentials))
        same, _ = await scene.join(scene.credentials())  # the first reply may have been lost, so repeat the same
        same.close()
        late = parse_code(
            create_pairing_code(scene.folder, name="two", routes=[".org"], valid_for=timedelta(seconds=-1))
        )
        expired = Credentials(late.name, outpost_key(late.key, NONCE), NONCE, late.key)
        await _assert_closed(await scene.connect(expired))
        assert [one.name for one in list_outposts(scene.folder)] == ["one"]
        assert scene.coordinator.state.unpair("one")
        await _assert_closed(await scene.connect(scene.credentials(pairing=False)))

    _run(tmp_path, play)


def test_an_agent_rejects_another_certificate(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        _, other = coordinator_certificate(tmp_path / "other")
        with pytest.raises(NotAuthentic, match="certificate"):
            await connect_to_coordinator(f"127.0.0.1:{scene.port}", certificate_pin(other))

    _run(tmp_path, play)


def test_an_outpost_cannot_deliver_pages_of_other_sites(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        await channel.send(AgentReady((), 8))
        theirs = _result(FetchJob(7, "http://bank.example/"), b"evil")._replace(run="old", url="http://bank.example/")
        await channel.send(ResultBatch(1, (theirs,)))
        assert await asyncio.wait_for(channel.receive(), 5) == Acknowledgement(1)
        assert scene.counts()["refused"] == 1
        assert scene.coordinator.state.result_urls() == set()
        assert scene.coordinator.state.exchange("http://bank.example/") is None
        channel.close()

    _run(tmp_path, play)


def test_a_result_left_by_a_crash_is_used_instead_of_fetching_again(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        await channel.send(AgentReady((), 8))
        url = f"{SITE}/left"
        item = _result(FetchJob(7, url), b"from before")._replace(run="a run before", url=url, age_us=60_000_000)
        await channel.send(ResultBatch(1, (item,)))
        assert await asyncio.wait_for(channel.receive(), 5) == Acknowledgement(1)
        result = await asyncio.wait_for(scene.coordinator.fetch(Request(url)), 5)
        assert isinstance(result, Fetched)
        assert result.body == b"from before"
        age = to_us(datetime.now(UTC)) - to_us(result.exchange.began)
        assert 59_000_000 < age < 70_000_000
        again = asyncio.create_task(scene.coordinator.fetch(Request(url)))
        assert (await _job(channel)).url == url
        again.cancel()
        channel.close()

    _run(tmp_path, play)


def test_garbage_instead_of_a_handshake_ends_the_connection(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(40), b"\0\0\0\x02{}", b"\xff" * 64):
            channel = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
            channel._writer.write(garbage)
            await channel.receive_plain(4096)
            if garbage == bytes(40):
                channel._writer.close()
            await _assert_closed(channel)
        assert scene.coordinator.state.outposts() == []

    _run(tmp_path, play)


def test_unpairing_disconnects_a_connected_outpost(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        await channel.send(AgentReady((), 8))
        asked = asyncio.create_task(scene.coordinator.fetch(Request(f"{SITE}/a")))
        job = await _job(channel)
        assert scene.coordinator.state.unpair("one")
        await channel.send(ResultBatch(1, (_result(job, b"too late"),)))
        await _assert_closed(channel)
        assert isinstance(await asyncio.wait_for(asked, 5), Failed)
        assert scene.web.asked == [f"{SITE}/a"]

    _run(tmp_path, play)


def test_an_outpost_cannot_date_its_results_before_the_job(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        channel, _ = await scene.join()
        await channel.send(AgentReady((), 8))
        before = datetime.now(UTC)
        asked = asyncio.create_task(scene.coordinator.fetch(Request(f"{SITE}/a")))
        job = await _job(channel)
        years = 30 * 365 * 86_400 * 1_000_000
        await channel.send(ResultBatch(1, (_result(job, b"old")._replace(age_us=years, took_us=years),)))
        result = await asyncio.wait_for(asked, 5)
        assert isinstance(result, Fetched)
        assert before <= result.exchange.began <= datetime.now(UTC)
        assert result.exchange.began + result.exchange.took <= datetime.now(UTC)
        left = _result(FetchJob(7, f"{SITE}/left"), b"old")._replace(run="old", url=f"{SITE}/left", age_us=years)
        await channel.send(ResultBatch(2, (left,)))
        while await asyncio.wait_for(channel.receive(), 5) != Acknowledgement(2):
            pass
        assert scene.coordinator.state.result_urls() == {f"{SITE}/a"}, "no lease reaches back that far"
        channel.close()

    _run(tmp_path, play)


def test_a_batch_decodes_to_no_more_than_its_limit(tmp_path: Path) -> None:
    """Send bodies that are small on the wire, but large once their content coding is undone."""
    body = gzip.compress(bytes(30 * 1024 * 1024))
    raw = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    sent = {number: SentRequest(Request(f"{SITE}/{number}"), 0, number) for number in range(MAX_RESULTS)}
    http = replace(Settings().http, max_compression_ratio=10_000.0)
    decoder = BatchDecoder(
        datetime.now(UTC), http, request_of=lambda item: sent[item.number], exchange_of=lambda url: None
    )
    for number in sent:
        exchange = Exchange(b"GET", raw, body, None, datetime.now(UTC), timedelta(milliseconds=1))
        answer = Fetched(f"{SITE}/{number}", 200, (), body, exchange)
        job = FetchJob(number, answer.url)
        decoder.add(encode_answer(job, answer, exchange, kind=ResultKind.FIRST, shared=None))
    held = sum(len(result.body) for _, _, result in decoder.results if isinstance(result, Fetched))
    assert 30 * 1024 * 1024 <= held <= MAX_BATCH_PLAIN_BYTES
    assert decoder.counts["refused"] > 0


def test_strangers_cannot_fill_the_log(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        for _ in range(30):
            channel = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
            hello = b"[" * 4000  # Deeper than Python's parser goes.
            channel._writer.write(len(hello).to_bytes(4, "big") + hello)
            await channel.receive_plain(4096)
            await _assert_closed(channel)
        events = (scene.folder / "outposts" / "events.jsonl").read_text()
        assert events.count("outpost.refused") == 1

    _run(tmp_path, play)


def test_strangers_make_room_for_outposts(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        strangers = [
            await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
            for _ in range(MAX_STRANGERS_PER_ADDRESS + 40)
        ]
        channel, _ = await scene.join()
        again = [await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin) for _ in range(100)]
        await channel.send(Heartbeat(1))
        assert isinstance(await asyncio.wait_for(channel.receive(), 5), LeaseRenewal)
        for one in (*strangers, *again, channel):
            one.close()
        await asyncio.sleep(0.1)  # Until the transports are closed.

    _run(tmp_path, play)


class _Requests(BaseHTTPRequestHandler):
    """A server on loopback that only we should reach."""

    log: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.log.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_hostile_coordinator_reaches_nothing_inside(tmp_path: Path) -> None:
    """Ask a real agent for private addresses and files, although its owner allows these hosts."""

    async def play(scene: Scene) -> None:
        server = HTTPServer(("127.0.0.1", 0), _Requests)
        thread = Thread(target=server.serve_forever)
        thread.start()
        port = server.server_address[1]
        hosts = ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0", "169.254.169.254", "10.0.0.1")
        code = create_pairing_code(scene.folder, name="agent", routes=hosts, valid_for=timedelta(hours=1))
        options = AgentOptions(tmp_path / "agent", f"127.0.0.1:{scene.port}", code, (*hosts, "site.example"))
        settings = replace(Settings(), identity=replace(Settings().identity, contact="me@example.org"))
        connected = asyncio.Event()
        agent = asyncio.create_task(run_outpost(options, settings, notify=lambda _: connected.set()))
        try:
            await asyncio.wait_for(connected.wait(), 30)
            urls = [f"http://{host}:{port}/secret" for host in hosts]
            scene.coordinator._load_outposts()
            (row,) = [one for one in scene.coordinator.state.outposts() if one.name == "agent"]
            remote = scene.coordinator._remotes[row.id]
            for url in (*urls, "file:///etc/passwd", "http://127.0.0.1:1/../../etc/passwd"):
                result = await asyncio.wait_for(scene.coordinator._fetch_remotely(remote, Request(url)), 30)
                assert isinstance(result, Failed), url
        finally:
            agent.cancel()
            await asyncio.gather(agent, return_exceptions=True)
            server.shutdown()
            thread.join()
            server.server_close()
        assert _Requests.log == []

    _run(tmp_path, play)


@pytest.mark.parametrize("lease_us", [0, 2**61])
def test_an_agent_refuses_leases_without_sense(tmp_path: Path, lease_us: int) -> None:
    with pytest.raises(ValueError, match="lease"):
        _check_lease(lease_us)
