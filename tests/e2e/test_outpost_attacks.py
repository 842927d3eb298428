"""What is not authentic has no effect: a real home behind TLS, strangers with recorded or invented bytes."""

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
from evercrawl.outpost.status import create_pairing_code, list_outposts

SITE = "http://site.example"
NONCE = bytes(32)


class NoWeb:
    """A direct fetcher that says that it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, request: Request) -> FetchResult:
        self.asked.append(request.url)
        return Failed(request.url, Fault.CONNECT, "no web here", timedelta(0))

    async def close(self) -> None:
        pass


class Scene:
    """A home with one code given out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = create_pairing_code(folder, name="one", routes=["site.example"], valid_for=timedelta(hours=1))
        self.code = parse_code(text)
        self.web = NoWeb()
        settings = Settings()
        settings = replace(settings, outposts=replace(settings.outposts, lease=timedelta(seconds=30)))
        self.home = Coordinator(folder, settings, SystemClock(), direct=self.web)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.home.listen(f"127.0.0.1:{self.port}", folder)

    def who(self, *, pairing: bool = True, nonce: bytes = NONCE) -> Credentials:
        key = outpost_key(self.code.key, nonce)
        return Credentials(self.code.name, key, nonce, self.code.key if pairing else None)

    async def connect(self, who: Credentials) -> SecureChannel:
        await asyncio.sleep(0)
        link = await connect_to_coordinator(f"127.0.0.1:{self.port}", self.code.pin)
        await authenticate_agent(link, who)
        return link

    async def join(self, who: Credentials | None = None) -> tuple[SecureChannel, Welcome]:
        link = await self.connect(who or self.who())
        welcome = await asyncio.wait_for(link.receive(), 5)
        assert isinstance(welcome, Welcome)
        return link, welcome

    def counts(self) -> dict[str, int]:
        row = self.home.state.outposts()
        return self.home.state.counts(row[0].id) if row else {}


@asynccontextmanager
async def _scene(folder: Path) -> AsyncIterator[Scene]:
    scene = Scene(folder)
    await asyncio.sleep(0.05)
    try:
        yield scene
    finally:
        await scene.home.close()


def _run(folder: Path, play: Callable[[Scene], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with _scene(folder) as scene:
            await play(scene)

    asyncio.run(whole())


def _item(job: FetchJob, body: bytes) -> JobResult:
    raw = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    exchange = Exchange(b"GET", raw, body, None, datetime.now(UTC), timedelta(milliseconds=1))
    result = Fetched(job.url, 200, (), body, exchange)
    return encode_answer(job, result, exchange, kind=ResultKind.FIRST, held=None)


async def _job(link: SecureChannel) -> FetchJob:
    while True:
        message = await asyncio.wait_for(link.receive(), 5)
        if isinstance(message, JobBatch):
            return message.jobs[0]


async def _refuses(link: SecureChannel) -> None:
    """Home ends the connection without an answer."""
    with pytest.raises(CHANNEL_ERRORS):
        await asyncio.wait_for(link.receive(), 5)
    link.close()


def test_a_batch_that_comes_twice_is_taken_once(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        link, _ = await scene.join()
        await link.send(AgentReady((), 8))
        asked = asyncio.create_task(scene.home.fetch(Request(f"{SITE}/a")))
        job = await _job(link)
        await link.send(Heartbeat(1))
        parcel = ResultBatch(1, (_item(job, b"hello"),))
        await link.send(parcel)
        result = await asyncio.wait_for(asked, 5)
        assert isinstance(result, Fetched)
        assert result.body == b"hello"
        before = scene.counts()
        await link.send(parcel)
        again, welcome = await scene.join(scene.who(pairing=False))
        assert welcome.taken == 1
        late = parcel.items[0]._replace(run=scene.home.run, url=f"{SITE}/a")
        await again.send(ResultBatch(1, (late,)))
        assert await asyncio.wait_for(again.receive(), 5) == Acknowledgement(1)
        after = scene.counts()
        assert after["whole"] == before["whole"] == 1
        again.close()

    _run(tmp_path, play)


def test_recorded_forged_cut_and_oversized_frames_have_no_effect(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        link, _ = await scene.join()
        sealed = link._sealer
        assert sealed is not None
        await link.send(AgentReady((), 8))
        recorded = sealed.seal(b"")  # moves the place: the next true frame is now out of order
        link.close()

        async def say(content: bytes, *, announce: int | None = None) -> None:
            stranger, _ = await scene.join(scene.who(pairing=False))
            size = len(content) if announce is None else announce
            stranger._writer.write(size.to_bytes(4, "big") + content)
            if announce is not None and announce > len(content) and announce < MAX_FRAME_BYTES:
                stranger._writer.close()  # cut short
            await _refuses(stranger)

        forged = ResultBatch(1, (_item(FetchJob(1, f"{SITE}/a"), b"evil")._replace(run="x", url=f"{SITE}/a"),))
        from evercrawl.outpost.messages import encode_message

        await say(recorded)
        await say(bytes(16) + encode_message(forged))
        await say(encode_message(forged), announce=5000)
        await say(b"", announce=MAX_FRAME_BYTES + 1)
        assert list_outposts(scene.folder)[0].counts["whole"] == 0
        assert scene.home.state.result_urls() == set()
        assert (await scene.home.fetch(Request("http://other.example/"))).url == "http://other.example/"

    _run(tmp_path, play)


def test_a_whole_recorded_conversation_opens_nothing_a_second_time(tmp_path: Path) -> None:
    """An eavesdropper inside TLS could not do more than this: the same bytes to a new challenge."""

    async def play(scene: Scene) -> None:
        said: list[bytes] = []
        link = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
        write = link._writer.write

        def overheard(data: bytes) -> None:
            said.append(data)
            write(data)

        link._writer.write = overheard  # type: ignore[method-assign]
        await authenticate_agent(link, scene.who())
        assert isinstance(await link.receive(), Welcome)
        await link.send(Heartbeat(1))
        assert isinstance(await link.receive(), LeaseRenewal)
        link.close()
        seen = scene.home.state.outposts()[0].seen_us
        await asyncio.sleep(0.01)
        thief = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
        for data in said:
            thief._writer.write(data)
        await thief.receive_plain(4096)
        await _refuses(thief)
        assert scene.home.state.outposts()[0].seen_us == seen

    _run(tmp_path, play)


def test_wrong_keys_used_codes_and_old_codes_are_refused(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        link, _ = await scene.join()
        link.close()
        wrong = scene.who(pairing=False)._replace(key=bytes(32))
        used = scene.who(nonce=b"n" * 32)
        unknown = scene.who(pairing=False)._replace(outpost="0123456789abcdef")
        for who in (wrong, used, unknown):
            await _refuses(await scene.connect(who))
        same, _ = await scene.join(scene.who())  # the answer to the first try was lost: the same again
        same.close()
        late = parse_code(
            create_pairing_code(scene.folder, name="two", routes=[".org"], valid_for=timedelta(seconds=-1))
        )
        expired = Credentials(late.name, outpost_key(late.key, NONCE), NONCE, late.key)
        await _refuses(await scene.connect(expired))
        assert [one.name for one in list_outposts(scene.folder)] == ["one"]
        assert scene.home.state.delete("one")
        await _refuses(await scene.connect(scene.who(pairing=False)))

    _run(tmp_path, play)


def test_an_outpost_says_nothing_to_a_stranger_at_homes_address(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        _, other = coordinator_certificate(tmp_path / "other")
        with pytest.raises(NotAuthentic, match="certificate"):
            await connect_to_coordinator(f"127.0.0.1:{scene.port}", certificate_pin(other))

    _run(tmp_path, play)


def test_an_outpost_cannot_speak_for_the_sites_of_others(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        link, _ = await scene.join()
        await link.send(AgentReady((), 8))
        theirs = _item(FetchJob(7, "http://bank.example/"), b"evil")._replace(run="old", url="http://bank.example/")
        await link.send(ResultBatch(1, (theirs,)))
        assert await asyncio.wait_for(link.receive(), 5) == Acknowledgement(1)
        assert scene.counts()["refused"] == 1
        assert scene.home.state.result_urls() == set()
        assert scene.home.state.exchange("http://bank.example/") is None
        link.close()

    _run(tmp_path, play)


def test_a_result_that_a_crash_of_home_left_behind_is_used_and_not_asked_for_again(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        link, _ = await scene.join()
        await link.send(AgentReady((), 8))
        url = f"{SITE}/left"
        item = _item(FetchJob(7, url), b"from before")._replace(run="a run before", url=url, age_us=60_000_000)
        await link.send(ResultBatch(1, (item,)))
        assert await asyncio.wait_for(link.receive(), 5) == Acknowledgement(1)
        result = await asyncio.wait_for(scene.home.fetch(Request(url)), 5)
        assert isinstance(result, Fetched)
        assert result.body == b"from before"
        age = to_us(datetime.now(UTC)) - to_us(result.exchange.began)
        assert 59_000_000 < age < 70_000_000
        again = asyncio.create_task(scene.home.fetch(Request(url)))
        assert (await _job(link)).url == url
        again.cancel()
        link.close()

    _run(tmp_path, play)


def test_garbage_instead_of_a_greeting_is_shown_out(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(40), b"\0\0\0\x02{}", b"\xff" * 64):
            link = await connect_to_coordinator(f"127.0.0.1:{scene.port}", scene.code.pin)
            link._writer.write(garbage)
            await link.receive_plain(4096)
            if garbage == bytes(40):
                link._writer.close()
            await _refuses(link)
        assert scene.home.state.outposts() == []

    _run(tmp_path, play)


def test_an_outpost_that_is_forgotten_while_it_is_connected_is_shown_out(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        link, _ = await scene.join()
        await link.send(AgentReady((), 8))
        asked = asyncio.create_task(scene.home.fetch(Request(f"{SITE}/a")))
        job = await _job(link)
        assert scene.home.state.delete("one")
        await link.send(ResultBatch(1, (_item(job, b"too late"),)))
        await _refuses(link)
        assert isinstance(await asyncio.wait_for(asked, 5), Failed)
        assert scene.web.asked == [f"{SITE}/a"]

    _run(tmp_path, play)
