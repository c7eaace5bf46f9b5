# SPDX-License-Identifier: Apache-2.0
"""Heartbeats, acknowledgements and the end of a run (SPEC sections 6 and 7)."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from vxmon.errors import WireError
from vxmon.wire.convert import (
    MAX_STREAMS,
    check_count,
    check_numbers,
    check_text,
    end_from,
    end_to,
    parse,
    serialize,
    stream_state_to,
    stream_states_from,
)
from vxmon.wire.generated import vxmon_pb2 as pb
from vxmon.wire.types import Ack, End, HostHeartbeat, LinkCounters, Range, StreamAck, TargetHeartbeat

__all__ = [
    "MAX_MISSING",
    "decode_ack",
    "decode_end",
    "decode_host_heartbeat",
    "decode_target_heartbeat",
    "encode_ack",
    "encode_end",
    "encode_host_heartbeat",
    "encode_target_heartbeat",
]

# Missing ranges a stream in one acknowledgement.
MAX_MISSING: Final = 16
_MAX_RELEASE: Final = 15
_COUNTERS: Final = tuple(field.name for field in fields(LinkCounters))


def decode_target_heartbeat(payload: bytes) -> TargetHeartbeat:
    """Decode the payload of a HEARTBEAT datagram from the target; raises WireError."""
    message = parse(pb.TargetHeartbeat(), payload, "target heartbeat")
    link = message.link
    times = (message.time, message.echo_time)
    check_numbers("target heartbeat", *times, *(getattr(link, name) for name in _COUNTERS))
    return TargetHeartbeat(
        time=message.time,
        clock_hz=message.clock_hz,
        os_release=check_text(message.os_release, _MAX_RELEASE, "OS release"),
        table_fingerprint=message.table_fingerprint,
        object_version=message.object_version,
        run=message.run,
        running=message.running,
        streams=stream_states_from(message.streams, "target heartbeat"),
        link=LinkCounters(**{name: getattr(link, name) for name in _COUNTERS}),
        echo=message.echo,
        echo_time=message.echo_time,
    )


def encode_target_heartbeat(beat: TargetHeartbeat) -> bytes:
    """Payload of a HEARTBEAT datagram from the target; raises WireError."""
    link = beat.link
    try:
        message = pb.TargetHeartbeat(
            time=beat.time,
            clock_hz=beat.clock_hz,
            os_release=check_text(beat.os_release, _MAX_RELEASE, "OS release"),
            table_fingerprint=beat.table_fingerprint,
            object_version=beat.object_version,
            run=beat.run,
            running=beat.running,
            streams=map(stream_state_to, beat.streams),
            link=pb.LinkCounters(**{name: getattr(link, name) for name in _COUNTERS}),
            echo=beat.echo,
            echo_time=beat.echo_time,
        )
    except ValueError as error:
        raise WireError("payload", f"target heartbeat: {error}") from error
    return serialize(message)


def decode_host_heartbeat(payload: bytes) -> HostHeartbeat:
    """Decode the payload of a HEARTBEAT datagram from the host; raises WireError."""
    message = parse(pb.HostHeartbeat(), payload, "host heartbeat")
    check_numbers("host heartbeat", message.time)
    return HostHeartbeat(message.time)


def encode_host_heartbeat(beat: HostHeartbeat) -> bytes:
    """Payload of a HEARTBEAT datagram from the host; raises WireError."""
    try:
        return serialize(pb.HostHeartbeat(time=beat.time))
    except ValueError as error:
        raise WireError("payload", f"host heartbeat: {error}") from error


def decode_ack(payload: bytes) -> Ack:
    """Decode the payload of an ACK datagram; raises WireError."""
    message = parse(pb.Ack(), payload, "acknowledgement")
    check_count(len(message.streams), MAX_STREAMS, "acknowledgement")
    return Ack(message.run, tuple(_stream_ack_from(stream) for stream in message.streams))


def _stream_ack_from(message: pb.StreamAck) -> StreamAck:
    check_count(len(message.missing), MAX_MISSING, "missing ranges of an acknowledgement")
    if message.stream >= MAX_STREAMS:
        raise WireError("payload", f"acknowledgement: stream {message.stream}")
    missing = tuple(Range(entry.first, entry.count) for entry in message.missing)
    check_numbers("acknowledgement", message.next, message.seen, *(entry.first + entry.count for entry in missing))
    return StreamAck(message.stream, message.next, message.seen, missing)


def encode_ack(ack: Ack) -> bytes:
    """Payload of an ACK datagram; raises WireError."""
    check_count(len(ack.streams), MAX_STREAMS, "acknowledgement")
    try:
        return serialize(pb.Ack(run=ack.run, streams=map(_stream_ack_to, ack.streams)))
    except ValueError as error:
        raise WireError("payload", f"acknowledgement: {error}") from error


def _stream_ack_to(stream: StreamAck) -> pb.StreamAck:
    check_count(len(stream.missing), MAX_MISSING, "missing ranges of an acknowledgement")
    missing = (pb.Range(first=entry.first, count=entry.count) for entry in stream.missing)
    return pb.StreamAck(stream=stream.stream, next=stream.next, seen=stream.seen, missing=missing)


def decode_end(payload: bytes) -> End:
    """Decode the payload of an END datagram; raises WireError."""
    return end_from(parse(pb.End(), payload, "end of a run"))


def encode_end(end: End) -> bytes:
    """Payload of an END datagram; raises WireError."""
    try:
        return serialize(end_to(end))
    except ValueError as error:
        raise WireError("payload", f"end of a run: {error}") from error
