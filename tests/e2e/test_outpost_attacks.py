"""Unauthenticated messages have no effect: a real coordinator behind TLS against recorded and forged bytes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evercrawl.adapters.system import SystemClock
from evercrawl.collection.outposts import create_pairing_code, list_outposts
from evercrawl.model.fetch import Exchange, Failed, Fault, Fetched, FetchResult, Request
from evercrawl.model.settings import Settings
from evercrawl.model.time import to_us
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
from evercrawl.outpost.coordinator import Coordinator
from evercrawl.outpost.messages import (
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
