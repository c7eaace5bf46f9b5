# SPDX-License-Identifier: Apache-2.0
"""Commands and replies (SPEC section 5)."""

from __future__ import annotations

from typing import Final

from vxmon.errors import WireError
from vxmon.wire.convert import (
    check_numbers,
    check_text,
    end_from,
    end_to,
    enum_from,
    parse,
    run_config_from,
    run_config_to,
    serialize,
)
from vxmon.wire.generated import vxmon_pb2 as pb
from vxmon.wire.tables import info_from, info_to
from vxmon.wire.types import (
    Bye,
    Command,
    End,
    Filter,
    Hello,
    InfoRequest,
    Reply,
    Request,
    Result,
    Scenario,
    Start,
    Started,
    Stop,
    TablesRequest,
    TargetInfo,
    Trigger,
)

__all__ = ["decode_command", "decode_reply", "encode_command", "encode_reply"]

_MAX_PAD: Final = 64
_MAX_MARK_TEXT: Final = 64
_MAX_SCENARIO: Final = 31
_MAX_REPLY_TEXT: Final = 159
# Requests that say all by being there.
_EMPTY: Final[dict[str, Request]] = {"info": InfoRequest(), "tables": TablesRequest(), "stop": Stop(), "bye": Bye()}


def decode_command(payload: bytes) -> Command:
    """Decode the payload of a COMMAND datagram; raises WireError."""
    message = parse(pb.Command(), payload, "command")
    if not message.request:
        raise WireError("payload", "command: request id 0")
    body = _request_from(message)
    if body is None:
        raise WireError("payload", "command: it is empty or not known")
    return Command(message.request, body)


def _request_from(message: pb.Command) -> Request | None:
    which = message.WhichOneof("body") or ""
    if which in _EMPTY:
        return _EMPTY[which]
    match which:
        case "hello":
            return Hello(message.hello.cookie, len(message.hello.pad))
        case "start":
            return Start(run_config_from(message.start.config))
        case "trigger":
            return Trigger(message.trigger.number, check_text(message.trigger.text, _MAX_MARK_TEXT, "trigger text"))
        case "scenario":
            return Scenario(check_text(message.scenario.name, _MAX_SCENARIO, "scenario name"))
    return Filter(message.filter.event, message.filter.on) if which == "filter" else None


def encode_command(command: Command) -> bytes:
    """Payload of a COMMAND datagram; raises WireError when a value is outside its limits."""
    try:
        message = pb.Command(request=command.request)
        _request_to(command.body, message)
    except (ValueError, TypeError) as error:
        raise WireError("payload", f"command: {error}") from error
    if not command.request:
        raise WireError("payload", "command: request id 0")
    return serialize(message)


def _request_to(body: Request, message: pb.Command) -> None:
    match body:
        case Hello(cookie, pad):
            if pad > _MAX_PAD:
                raise WireError("payload", f"hello: padding of {pad} bytes")
            message.hello.CopyFrom(pb.Hello(cookie=cookie, pad=bytes(pad)))
        case Start(config):
            message.start.CopyFrom(pb.Start(config=run_config_to(config)))
        case Trigger(number, text):
            message.trigger.CopyFrom(pb.Trigger(number=number, text=check_text(text, _MAX_MARK_TEXT, "trigger text")))
        case Scenario(name):
            message.scenario.CopyFrom(pb.Scenario(name=check_text(name, _MAX_SCENARIO, "scenario name")))
        case Filter(event, on):
            message.filter.CopyFrom(pb.Filter(event=event, on=on))
        case _:
            name = next(name for name, request in _EMPTY.items() if request == body)
            getattr(message, name).SetInParent()


def decode_reply(payload: bytes) -> Reply:
    """Decode the payload of a REPLY message, put together from its fragments; raises WireError."""
    message = parse(pb.Reply(), payload, "reply")
    text = check_text(message.text, _MAX_REPLY_TEXT, "reply text")
    return Reply(message.request, enum_from(Result, message.result, "reply: result"), text, _body_from(message))


def _body_from(message: pb.Reply) -> int | TargetInfo | Started | End | None:
    match message.WhichOneof("body"):
        case "cookie":
            return message.cookie
        case "info":
            return info_from(message.info)
        case "started":
            started = message.started
            check_numbers("start of a run", started.time)
            return Started(started.run, started.time, run_config_from(started.config))
        case "end":
            return end_from(message.end)
    return None


def encode_reply(reply: Reply) -> bytes:
    """Payload of a REPLY message; raises WireError when a value is outside its limits."""
    text = check_text(reply.text, _MAX_REPLY_TEXT, "reply text")
    try:
        message = pb.Reply(request=reply.request, result=reply.result.name, text=text)
        _body_to(reply.body, message)
    except (ValueError, TypeError) as error:
        raise WireError("payload", f"reply: {error}") from error
    return serialize(message)


def _body_to(body: int | TargetInfo | Started | End | None, message: pb.Reply) -> None:
    match body:
        case int():
            message.cookie = body
        case TargetInfo():
            message.info.CopyFrom(info_to(body))
        case Started(run, time, config):
            message.started.CopyFrom(pb.Started(run=run, time=time, config=run_config_to(config)))
        case End():
            message.end.CopyFrom(end_to(body))
