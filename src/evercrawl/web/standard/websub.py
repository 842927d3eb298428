"""WebSub: where hubs check what we asked for, and tell of news (W3C WebSub, sections 5.3 and 7)."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.collection.alerts.subscriptions import CallbackReply
from evercrawl.web.desk import Desk
from evercrawl.web.parameter import Parameter

PARAMETERS = (
    Parameter("hub.mode", "subscribe, unsubscribe or denied."),
    Parameter("hub.topic", "What the subscription is about."),
    Parameter("hub.challenge", "What is to be sent back."),
    Parameter("hub.lease_seconds", "How long the subscription lasts."),
    Parameter("hub.reason", "Why it was denied."),
)


class HubCalls:
    """Answers hubs; who does not know a subscription's token learns nothing, and its body is not read."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def __call__(self, request: Request) -> Response:
        token = request.path_params["token"]
        if request.method == "POST":
            return _answer(await self._told(request, token))
        return _answer(await run_in_threadpool(self.desk.websub.answer_challenge, token, dict(request.query_params)))

    async def _told(self, request: Request, token: str) -> CallbackReply:
        if not await run_in_threadpool(self.desk.websub.knows, token):
            return CallbackReply(404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.body()
        return await run_in_threadpool(self.desk.websub.receive, token, headers, body)


def _answer(reply: CallbackReply) -> Response:
    return Response(reply.body, reply.status, media_type="text/plain")
