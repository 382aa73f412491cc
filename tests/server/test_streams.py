"""What is kept of a stream is bounded, in bytes, in number and in time."""

import asyncio

import pytest

from ferrox_gguf.errors import RequestError
from ferrox_gguf.server.streams import Session, Streams


def nothing():
    """Stops no request."""


def say(body):
    return {"type": "http.response.body", "body": body}


async def everything(session, offset=0):
    return [chunk async for chunk in session.read(offset)]


def test_the_oldest_bytes_go_first_and_asking_for_them_is_an_error():
    async def tell():
        session = Session("a", nothing, limit=10)
        for letter in b"abcdefghijklmno":
            await session.send(say(bytes([letter])))
        session.finish()
        assert session.size == 15
        assert await everything(session, 5) == [b"fghijklmno"]
        with pytest.raises(RequestError, match="offset lost"):
            await everything(session, 4)

    asyncio.run(tell())


def test_a_chunk_that_is_longer_than_all_that_is_kept_leaves_its_end():
    async def tell():
        session = Session("a", nothing, limit=4)
        await session.send(say(b"0123456789"))
        session.finish()
        assert await everything(session, 6) == [b"6789"]

    asyncio.run(tell())


def test_a_reader_who_falls_too_far_behind_is_told():
    async def tell():
        session = Session("a", nothing, limit=4)
        await session.send(say(b"ab"))
        reader = session.read(0)
        assert await reader.__anext__() == b"ab"
        await session.send(say(b"cdefgh"))
        with pytest.raises(RequestError):
            await reader.__anext__()

    asyncio.run(tell())


def test_a_reader_waits_for_what_comes():
    async def tell():
        session = Session("a", nothing)
        reading = asyncio.ensure_future(everything(session))
        for body in (b"a", b"b"):
            await asyncio.sleep(0)
            await session.send(say(body))
        await asyncio.sleep(0)
        session.finish()
        assert b"".join(await reading) == b"ab"

    asyncio.run(tell())


def test_what_came_instead_of_a_beginning_is_raised():
    async def tell():
        session = Session("a", nothing)
        session.finish(RequestError("no"))
        with pytest.raises(RequestError, match="no"):
            await session.started()

    asyncio.run(tell())


def test_when_there_is_no_room_the_oldest_that_is_over_goes():
    async def tell():
        streams = Streams(most=2)
        first, second = streams.open("first", nothing), streams.open("second", nothing)
        assert first
        assert second
        assert streams.open("third", nothing) is None, "both still run"
        streams.close(second)
        assert streams.open("third", nothing)
        assert streams.get("second") is None
        assert streams.get("first") is first

    asyncio.run(tell())


def test_a_stream_that_is_over_is_forgotten_after_a_while():
    async def tell():
        streams = Streams(kept_seconds=0.05)
        session = streams.open("a", nothing)
        streams.close(session)
        assert streams.get("a") is session
        await asyncio.sleep(0.1)
        assert streams.get("a") is None

    asyncio.run(tell())


def test_the_end_of_an_old_stream_does_not_forget_the_new_one():
    async def tell():
        stopped = []
        streams = Streams(kept_seconds=0.02)
        old = streams.open("a", lambda: stopped.append("old"))
        new = streams.open("a", nothing)
        assert stopped == ["old"]
        assert old.done
        streams.close(old)
        await asyncio.sleep(0.05)
        assert streams.get("a") is new

    asyncio.run(tell())
