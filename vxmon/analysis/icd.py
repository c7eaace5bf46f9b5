# SPDX-License-Identifier: Apache-2.0
"""Whether an ICD is right, and whether it fits the module it is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from vxmon.config.model import ModuleConfig, PortConfig
from vxmon.config.place import Place
from vxmon.icd.checks import IcdProblem, check_message
from vxmon.icd.icd import Icd
from vxmon.icd.model import Binding, Message

__all__ = ["IcdCheck", "check_icd"]


@dataclass(frozen=True, slots=True)
class IcdCheck:
    """The result. ``failed`` if there is an error."""

    messages: int
    fields: int
    bindings: int
    ports: int | None
    problems: tuple[IcdProblem, ...]

    @property
    def failed(self) -> bool:
        """Tell whether the ICD must be mended before messages can be decoded with it."""
        return any(p.severity == "error" for p in self.problems)


def check_icd(icd: Icd, module: ModuleConfig | None = None) -> IcdCheck:
    """Check the messages of an ICD, and its bindings against the ports of a module."""
    problems = [problem for message in icd.messages for problem in check_message(message)]
    ports = None if module is None else [(p.name, port) for p in module.partitions for port in p.ports]
    if ports is not None:
        problems += _unknown_ports(icd, ports)
        problems += _port_sizes(icd, ports)
    fields = sum(len(message.fields) for message in icd.messages)
    count = None if ports is None else len(ports)
    return IcdCheck(len(icd.messages), fields, len(icd.bindings), count, tuple(problems))


def _matches(binding: Binding, partition: str, port: PortConfig) -> bool:
    return binding.partition in (None, partition) and fnmatchcase(port.name, binding.pattern)


def _unknown_ports(icd: Icd, ports: list[tuple[str, PortConfig]]) -> Iterator[IcdProblem]:
    for binding, message in icd.bindings:
        if binding.port and not any(_matches(binding, partition, port) for partition, port in ports):
            where = f" of partition {binding.partition}" if binding.partition else ""
            text = f"the module has no port {binding.pattern}{where}"
            yield IcdProblem("error", "unknown port", binding.place, message.name, text)


def _port_sizes(icd: Icd, ports: list[tuple[str, PortConfig]]) -> Iterator[IcdProblem]:
    for partition, port in ports:
        place = Place(port.source.file, port.source.line)
        message = icd.message_for(port.name, partition)
        if message is None:
            text = f"port {port.name} of {partition} has no layout; its messages will be shown raw"
            yield IcdProblem("note", "no layout", place, "", text)
        elif message.minimum_size > port.message_size:
            yield IcdProblem("error", "size", place, message.name, _too_large(message, port, partition))


def _too_large(message: Message, port: PortConfig, partition: str) -> str:
    needed = f"message {message.name} has {message.minimum_size:,} bytes"
    return f"{needed}; port {port.name} of {partition} carries at most {port.message_size:,}"
