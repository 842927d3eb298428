"""Lets code that waits for nobody use a database that is waited for.

The embedded store's code asks its file and has the answer at once. Here the same code runs in a greenlet:
where it asks, the greenlet steps aside, the event loop waits for the server, and the code goes on with the
answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

T = TypeVar("T")


async def beside_the_loop(work: Callable[[], T]) -> T:
    """Run code that may call `waited_for`, without holding the event loop up."""
    walker = greenlet(work)
    step = walker.switch()
    while not walker.dead:
        try:
            answer = await step
        except BaseException as error:
            step = walker.throw(error)
        else:
            step = walker.switch(answer)
    result: T = step
    return result


def waited_for(answer: Awaitable[T]) -> T:
    """The result of something that takes time; only inside `beside_the_loop`."""
    outside = getcurrent().parent
    assert outside is not None, "nobody waits outside"
    result: T = outside.switch(answer)
    return result


def driven(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never gives way."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("a coroutine of the embedded store gave way")
