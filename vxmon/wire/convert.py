# SPDX-License-Identifier: Apache-2.0
"""Pieces of messages that several channels share: generated messages to types and back, with their bounds."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, TypeVar

from google.protobuf.message import DecodeError, EncodeError, Message

from vxmon.errors import WireError
from vxmon.wire.generated import vxmon_pb2 as pb
from vxmon.wire.types import Context, End, Losses, Payload, Policy, RunConfig, StreamState

__all__ = [
    "MAX_NAME",
    "MAX_NUMBER",
    "MAX_STREAMS",
    "check_count",
    "check_numbers",
    "check_text",
    "context_from",
    "context_to",
    "end_from",
    "end_to",
    "enum_from",
    "events_from_bits",
    "events_to_bits",
    "losses_from",
    "losses_to",
    "parse",
    "run_config_from",
    "run_config_to",
    "serialize",
    "stream_state_to",
    "stream_states_from",
]

MAX_NAME: Final = 31
MAX_NUMBER: Final = (1 << 62) - 1
MAX_STREAMS: Final = 8
_EVENT_BYTES: Final = 128

M = TypeVar("M", bound=Message)
E = TypeVar("E", bound=IntEnum)


def parse(message: M, payload: bytes, what: str) -> M:
    """Fill a message from bytes; raises WireError."""
    try:
        message.ParseFromString(payload)
    except DecodeError as error:
        raise WireError("payload", f"{what}: not a protobuf message of its kind") from error
    return message


def serialize(message: Message) -> bytes:
    """Bytes of a message, the same for the same content; raises WireError."""
    try:
        return message.SerializeToString(deterministic=True)
    except EncodeError as error:
        raise WireError("payload", f"{type(message).__name__} cannot be encoded: {error}") from error


def check_text(text: str, limit: int, what: str) -> str:
    """Pass printable ASCII of at most ``limit`` characters; raises WireError."""
    if len(text) > limit or not text.isascii() or not (text == "" or text.isprintable()):
        raise WireError("payload", f"{what}: not printable ASCII of at most {limit} characters")
    return text


def check_count(count: int, limit: int, what: str) -> None:
    """Raise WireError when there are more entries than the format allows."""
    if count > limit:
        raise WireError("payload", f"{what}: {count} entries, at most {limit} are allowed")


def check_numbers(what: str, *numbers: int) -> None:
    """Raise WireError for numbers that do not fit the int64 columns in which the host keeps them."""
    if max(numbers) > MAX_NUMBER:
        raise WireError("payload", f"{what}: the number {max(numbers)} is too large")


def enum_from(kind: type[E], value: int, what: str) -> E:
    """The member of an enumeration; raises WireError for a value it does not have."""
    try:
        return kind(value)
    except ValueError as error:
        raise WireError("payload", f"{what}: unknown value {value}") from error


def context_from(message: pb.Context) -> Context:
    """Context of a block; raises WireError."""
    if max(message.partition, message.window, message.task, message.depth) > 0xFFFF:
        raise WireError("payload", "an index of a block's context is larger than 65535")
    return Context(message.partition, message.window, message.task, message.depth)


def context_to(context: Context) -> pb.Context:
    """The reverse of :func:`context_from`."""
    return pb.Context(partition=context.partition, window=context.window, task=context.task, depth=context.depth)


def losses_from(message: pb.Losses) -> Losses:
    """Loss counters; raises WireError."""
    check_numbers("losses", message.overwritten, message.full, message.exhausted)
    return Losses(message.overwritten, message.full, message.exhausted)


def losses_to(losses: Losses) -> pb.Losses:
    """The reverse of :func:`losses_from`."""
    return pb.Losses(overwritten=losses.overwritten, full=losses.full, exhausted=losses.exhausted)


def stream_states_from(messages: Iterable[pb.StreamState], what: str) -> tuple[StreamState, ...]:
    """States of at most 8 streams; raises WireError."""
    states = tuple(_stream_state_from(message) for message in messages)
    check_count(len(states), MAX_STREAMS, what)
    if any(state.stream >= MAX_STREAMS for state in states) or len({s.stream for s in states}) != len(states):
        raise WireError("payload", f"{what}: a stream number is too large or there twice")
    return states


def _stream_state_from(message: pb.StreamState) -> StreamState:
    check_numbers("stream state", message.recorded, message.cut_index, message.cut_time, message.blocks, message.held)
    return StreamState(
        stream=message.stream,
        recorded=message.recorded,
        cut_index=message.cut_index,
        cut_time=message.cut_time,
        blocks=message.blocks,
        held=message.held,
        losses=losses_from(message.losses),
        units=message.units,
        units_used=message.units_used,
        grow_failures=message.grow_failures,
    )


def stream_state_to(state: StreamState) -> pb.StreamState:
    """One stream's state."""
    return pb.StreamState(
        stream=state.stream,
        recorded=state.recorded,
        cut_index=state.cut_index,
        cut_time=state.cut_time,
        blocks=state.blocks,
        held=state.held,
        losses=losses_to(state.losses),
        units=state.units,
        units_used=state.units_used,
        grow_failures=state.grow_failures,
    )


def end_from(message: pb.End) -> End:
    """Final figures of a run; raises WireError."""
    check_numbers("end of a run", message.time)
    return End(message.run, message.time, message.reason, stream_states_from(message.streams, "end of a run"))


def end_to(end: End) -> pb.End:
    """The reverse of :func:`end_from`."""
    return pb.End(run=end.run, time=end.time, reason=end.reason, streams=map(stream_state_to, end.streams))


def events_from_bits(bits: bytes, what: str) -> frozenset[int]:
    """Event ids from a bit map (bit e % 8 of byte e / 8); raises WireError."""
    if len(bits) > _EVENT_BYTES:
        raise WireError("payload", f"{what}: a bit map of {len(bits)} bytes")
    number = int.from_bytes(bits, "little")
    return frozenset(event for event in range(8 * len(bits)) if number >> event & 1)


def events_to_bits(events: Iterable[int], what: str) -> bytes:
    """Bit map of event ids, without zero bytes at its end; raises WireError."""
    number = 0
    for event in events:
        if not 0 <= event < 8 * _EVENT_BYTES:
            raise WireError("payload", f"{what}: event id {event}")
        number |= 1 << event
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def run_config_from(message: pb.RunConfig) -> RunConfig:
    """Configuration of a run; raises WireError."""
    check_numbers("run configuration", message.max_ticks, message.max_records)
    return RunConfig(
        events=events_from_bits(message.enable, "run configuration"),
        datagram_bytes=message.datagram_bytes,
        unit_slots=message.unit_slots,
        units=message.units,
        policy=enum_from(Policy, message.policy, "run configuration: policy"),
        high_water=message.high_water,
        flush_ms=message.flush_ms,
        one_way=message.one_way,
        no_upload=message.no_upload,
        max_ticks=message.max_ticks,
        hidden_partitions=events_from_bits(message.hidden_partitions, "run configuration"),
        hidden_objects=events_from_bits(message.hidden_objects, "run configuration"),
        payload=enum_from(Payload, message.payload, "run configuration: payload"),
        content_bytes=message.content_bytes,
        fast=message.fast,
        memory_ms=message.memory_ms if message.HasField("memory_ms") else None,
        stack_ms=message.stack_ms if message.HasField("stack_ms") else None,
        operations_ms=message.operations_ms if message.HasField("operations_ms") else None,
        grow_units=message.grow_units,
        max_units=message.max_units,
        max_records=message.max_records,
        stop_when_full=message.stop_when_full,
    )


def run_config_to(config: RunConfig) -> pb.RunConfig:
    """The reverse of :func:`run_config_from`."""
    return pb.RunConfig(
        enable=events_to_bits(config.events, "run configuration"),
        datagram_bytes=config.datagram_bytes,
        unit_slots=config.unit_slots,
        units=config.units,
        policy=config.policy.name,
        high_water=config.high_water,
        flush_ms=config.flush_ms,
        one_way=config.one_way,
        no_upload=config.no_upload,
        max_ticks=config.max_ticks,
        hidden_partitions=events_to_bits(config.hidden_partitions, "run configuration"),
        hidden_objects=events_to_bits(config.hidden_objects, "run configuration"),
        payload=config.payload.name,
        content_bytes=config.content_bytes,
        fast=config.fast,
        memory_ms=config.memory_ms,
        stack_ms=config.stack_ms,
        operations_ms=config.operations_ms,
        grow_units=config.grow_units,
        max_units=config.max_units,
        max_records=config.max_records,
        stop_when_full=config.stop_when_full,
    )
