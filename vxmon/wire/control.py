# SPDX-License-Identifier: Apache-2.0
"""Commands and replies (SPEC section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vxmon.errors import WireError
from vxmon.wire.acquired import LogPage, LogRequest, MemoryPage, MemoryRequest
from vxmon.wire.acquisition import (
    log_page_from,
    log_page_to,
    log_request_from,
    log_request_to,
    memory_page_from,
    memory_page_to,
)
from vxmon.wire.authentication import Challenge
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
    Body,
    Bye,
    Command,
    Configure,
    End,
    Filter,
    Hello,
    InfoRequest,
    Reply,
    Request,
    Result,
    RunConfig,
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


def _start_from(start: pb.Start) -> Start:
    return Start(run_config_from(start.config) if start.HasField("config") else None)


def _trigger_from(trigger: pb.Trigger) -> Trigger:
    return Trigger(trigger.number, check_text(trigger.text, _MAX_MARK_TEXT, "trigger text"))


# From the field of the oneof to its type.
_REQUESTS: Final[dict[str, Callable[[Any], Request]]] = {
    "hello": lambda hello: Hello(hello.cookie, len(hello.pad)),
    "start": _start_from,
    "trigger": _trigger_from,
    "scenario": lambda scenario: Scenario(check_text(scenario.name, _MAX_SCENARIO, "scenario name")),
    "filter": lambda wanted: Filter(wanted.event, wanted.on),
    "configure": lambda configure: Configure(run_config_from(configure.config), configure.check_only),
    "memory": lambda memory: MemoryRequest(memory.first),
    "log": log_request_from,
}


def _request_from(message: pb.Command) -> Request | None:
    which = message.WhichOneof("body") or ""
    if which in _EMPTY:
        return _EMPTY[which]
    convert = _REQUESTS.get(which)
    return convert(getattr(message, which)) if convert is not None else None


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
            message.start.CopyFrom(pb.Start(config=None if config is None else run_config_to(config)))
        case Trigger(number, text):
            message.trigger.CopyFrom(pb.Trigger(number=number, text=check_text(text, _MAX_MARK_TEXT, "trigger text")))
        case Scenario(name):
            message.scenario.CopyFrom(pb.Scenario(name=check_text(name, _MAX_SCENARIO, "scenario name")))
        case Filter(event, on):
            message.filter.CopyFrom(pb.Filter(event=event, on=on))
        case Configure(config, check_only):
            message.configure.CopyFrom(pb.Configure(config=run_config_to(config), check_only=check_only))
        case MemoryRequest(first):
            message.memory.CopyFrom(pb.MemoryRequest(first=first))
        case LogRequest():
            message.log.CopyFrom(log_request_to(body))
        case _:
            name = next(name for name, request in _EMPTY.items() if request == body)
            getattr(message, name).SetInParent()


def decode_reply(payload: bytes) -> Reply:
    """Decode the payload of a REPLY message, put together from its fragments; raises WireError."""
    message = parse(pb.Reply(), payload, "reply")
    text = check_text(message.text, _MAX_REPLY_TEXT, "reply text")
    result = enum_from(Result, message.result, "reply: result")
    return Reply(message.request, result, text, _body_from(message), _challenge_from(message))


def _challenge_from(message: pb.Reply) -> Challenge | None:
    given = message.challenge
    return Challenge(given.nonce, given.session) if message.HasField("challenge") else None


def _started_from(started: pb.Started) -> Started:
    check_numbers("start of a run", started.time)
    return Started(started.run, started.time, run_config_from(started.config))


_BODIES: Final[dict[str, Callable[[Any], Body]]] = {
    "cookie": int,
    "info": info_from,
    "started": _started_from,
    "end": end_from,
    "config": run_config_from,
    "memory": memory_page_from,
    "log": log_page_from,
}


def _body_from(message: pb.Reply) -> Body | None:
    which = message.WhichOneof("body")
    return _BODIES[which](getattr(message, which)) if which is not None else None


def encode_reply(reply: Reply) -> bytes:
    """Payload of a REPLY message; raises WireError when a value is outside its limits."""
    text = check_text(reply.text, _MAX_REPLY_TEXT, "reply text")
    try:
        message = pb.Reply(request=reply.request, result=reply.result.name, text=text)
        _body_to(reply.body, message)
        if reply.challenge is not None:
            challenge = pb.Challenge(nonce=reply.challenge.nonce, session=reply.challenge.session)
            message.challenge.CopyFrom(challenge)
    except (ValueError, TypeError) as error:
        raise WireError("payload", f"reply: {error}") from error
    return serialize(message)


def _body_to(body: Body | None, message: pb.Reply) -> None:
    match body:
        case int():
            message.cookie = body
        case TargetInfo():
            message.info.CopyFrom(info_to(body))
        case Started(run, time, config):
            message.started.CopyFrom(pb.Started(run=run, time=time, config=run_config_to(config)))
        case End():
            message.end.CopyFrom(end_to(body))
        case RunConfig():
            message.config.CopyFrom(run_config_to(body))
        case MemoryPage():
            message.memory.CopyFrom(memory_page_to(body))
        case LogPage():
            message.log.CopyFrom(log_page_to(body))
