# SPDX-License-Identifier: Apache-2.0
"""A C type as fields: structures and arrays taken apart, everything at its place in the target's byte order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vxmon.icd.model import MAX_FIELDS, MAX_SIZE, Display, Field, FieldType, Order
from vxmon.image.dwarf_data import DwarfError
from vxmon.image.dwarf_entries import At, Entries, Entry, Reference, Tag

__all__ = ["Flattener"]

_DEEPEST: Final = 32
_LONGEST_CHAIN: Final = 64
_MOST_ENUMERATORS: Final = 4096
_ALIASES: Final = frozenset({Tag.TYPEDEF, Tag.CONST, Tag.VOLATILE, Tag.RESTRICT, Tag.ATOMIC, Tag.IMMUTABLE, Tag.PACKED})
_POINTERS: Final = frozenset({Tag.POINTER, Tag.REFERENCE, Tag.RVALUE_REFERENCE})
_STRUCTURES: Final = frozenset({Tag.STRUCTURE, Tag.CLASS})
_OP_PLUS_UCONST: Final = 0x23
# DW_ATE_*
_BOOLEAN, _FLOAT, _UNSIGNED_CHAR = 0x02, 0x04, 0x08
_SIGNED_CHAR: Final = 0x06
_SIGNED: Final = frozenset({0x05, 0x06})
_UNSIGNED: Final = frozenset({0x01, 0x07, 0x08, 0x10, 0x11, 0x12})
_FLOATS: Final = {2: FieldType.FLOAT16, 4: FieldType.FLOAT32, 8: FieldType.FLOAT64}
# DW_END_*
_ENDIANITY: Final[dict[int, Order]] = {1: "big", 2: "little"}


@dataclass(frozen=True, slots=True)
class _Number:
    """What a type without parts is: bits of ``size`` bytes with a meaning."""

    type: FieldType
    size: int
    order: Order
    values: dict[int, str]
    display: Display = "decimal"

    def field(self, name: str, position: int, length: int) -> Field:
        return Field(name, self.type, position, length, self.order, values=self.values, display=self.display)


class Flattener:
    """Makes the fields of one message. ``notes`` say what could not be taken apart."""

    def __init__(self, entries: Entries, order: Order) -> None:
        self._entries = entries
        self._order = order
        self._fields: list[Field] = []
        self.notes: list[str] = []

    def message(self, entry: Entry) -> tuple[int, list[Field]]:
        """Return the size of a type in bytes, and its fields. Raises DwarfError for a type that is no message."""
        entry = self._resolved(entry)
        size = self._size(entry)
        if not 0 < size <= MAX_SIZE:
            raise DwarfError(f"it has {size:,} bytes; a message has 1 to {MAX_SIZE:,}")
        if entry.tag in _STRUCTURES:
            self._structure(entry, "", 0, 0)
        else:
            self._add(entry, "value", 0, 0)
        return size, self._fields

    def _add(self, entry: Entry, name: str, byte: int, depth: int) -> None:
        """Add what a type has at a place."""
        if depth > _DEEPEST:
            raise DwarfError(f"types are nested more than {_DEEPEST} times")
        if entry.tag in _STRUCTURES:
            self._structure(entry, name, byte, depth)
        elif entry.tag == Tag.ARRAY:
            self._array(entry, name, byte, depth)
        elif entry.tag == Tag.UNION:
            self._raw(name, byte, self._size(entry), "a union")
        else:
            self._single(entry, name, byte)

    def _structure(self, entry: Entry, prefix: str, byte: int, depth: int) -> None:
        for child in self._entries.children(entry):
            # Static members of classes have no place in an object.
            static = child.number(At.EXTERNAL) is not None or child.number(At.DECLARATION) is not None
            if child.tag in (Tag.MEMBER, Tag.INHERITANCE) and not static:
                self._member(child, prefix, byte, depth)

    def _member(self, member: Entry, prefix: str, byte: int, depth: int) -> None:
        offset = _location(member)
        kind = self._type_of(member)
        if offset is None or kind is None:
            self.notes.append(f"{prefix}{member.name or 'a base class'} has no constant place and is left out")
            return
        anonymous = not member.name
        name = f"{prefix}.{member.name}" if prefix else member.name
        if member.number(At.BIT_SIZE) is not None:
            self._bit_field(member, kind, name, byte, offset)
        elif anonymous and kind.tag in _STRUCTURES:
            self._deeper(kind, prefix, byte + offset, depth)
        else:
            self._add(kind, name or f"{prefix}.at_{offset}".lstrip("."), byte + offset, depth + 1)

    def _deeper(self, kind: Entry, prefix: str, byte: int, depth: int) -> None:
        """Add the members of a structure without a name as those of the one around it."""
        if depth > _DEEPEST:
            raise DwarfError(f"types are nested more than {_DEEPEST} times")
        self._structure(kind, prefix, byte, depth + 1)

    def _bit_field(self, member: Entry, kind: Entry, name: str, byte: int, offset: int) -> None:
        """Add a bit-field.

        DW_AT_data_bit_offset (DWARF 4 and 5) counts as vxmon.icd.model does. DW_AT_bit_offset (DWARF 2 and 3) counts
        from the most significant bit of a storage unit, whatever the byte order.
        """
        number = self._number(kind)
        length = member.number(At.BIT_SIZE) or 0
        if number is None or not 1 <= length <= 64 or number.type in _FLOATS.values():
            self.notes.append(f"{name} is a bit-field of {length} bits, which is left out")
            return
        position = member.number(At.DATA_BIT_OFFSET)
        if position is None:
            storage = 8 * (member.number(At.BYTE_SIZE) or number.size)
            skipped = _signed32(member.number(At.BIT_OFFSET) or 0)
            # The target's own order counts here, also where the structure has the other one by an attribute.
            start = skipped if self._order == "big" else storage - skipped - length
            position = 8 * offset + start
        self._put(
            Field(
                name,
                number.type,
                8 * byte + position,
                length,
                number.order,
                values=number.values,
                display=number.display,
            )
        )

    def _single(self, entry: Entry, name: str, byte: int) -> None:
        number = self._number(entry)
        if number is None:
            size = self._size(entry)
            self._raw(name, byte, size, f"of a type of {size} bytes that is not known")
            return
        self._put(
            Field(
                name, number.type, 8 * byte, 8 * number.size, number.order, values=number.values, display=number.display
            )
        )

    def _array(self, entry: Entry, name: str, byte: int, depth: int) -> None:
        element = self._type_of(entry)
        counts = self._counts(entry)
        if element is None or counts is None:
            self.notes.append(f"{name} is an array whose size is not constant, and is left out")
            return
        size = self._size(element)
        total = 1
        for count in counts:
            total *= count
        if not total * size:
            self.notes.append(f"{name} is an array without a size, and is left out")
        elif total * size > MAX_SIZE:
            raise DwarfError(f"{name} is an array of {total * size:,} bytes")
        elif entry.number(At.BYTE_STRIDE) is not None or entry.number(At.BIT_STRIDE) is not None:
            self._raw(name, byte, total * size, "an array of packed elements")
        elif self._is_text(element) and len(counts) == 1:
            self._put(Field(name, FieldType.TEXT, 8 * byte, 8 * total, self._order))
        elif self._is_byte(element) and len(counts) == 1:
            self._put(Field(name, FieldType.BYTES, 8 * byte, 8 * total, self._order))
        else:
            self._elements(element, name, byte, size, counts, depth)

    def _elements(self, element: Entry, name: str, byte: int, size: int, counts: list[int], depth: int) -> None:
        if depth + len(counts) > _DEEPEST:
            raise DwarfError(f"types are nested more than {_DEEPEST} times")
        step = size
        for count in counts[1:]:
            step *= count
        for index in range(counts[0]):
            place = byte + index * step
            if len(counts) > 1 and not (
                len(counts) == 2 and self._add_row(element, f"{name}[{index}]", place, counts[1])
            ):
                self._elements(element, f"{name}[{index}]", place, size, counts[1:], depth + 1)
            elif len(counts) == 1:
                self._add(element, f"{name}[{index}]", place, depth + 1)

    def _add_row(self, element: Entry, name: str, byte: int, count: int) -> bool:
        """Add the last dimension of an array of texts or bytes as one field; tell whether it was one."""
        if not self._is_text(element) and not self._is_byte(element):
            return False
        kind = FieldType.TEXT if self._is_text(element) else FieldType.BYTES
        self._put(Field(name, kind, 8 * byte, 8 * count, self._order))
        return True

    def _raw(self, name: str, byte: int, size: int, what: str) -> None:
        if size > 0:
            self.notes.append(f"{name} is {what}, shown raw")
            self._put(Field(name, FieldType.BYTES, 8 * byte, 8 * size, self._order))

    def _put(self, field: Field) -> None:
        if len(self._fields) >= MAX_FIELDS:
            raise DwarfError(f"the message has more than {MAX_FIELDS:,} fields")
        self._fields.append(field)

    def _counts(self, entry: Entry) -> list[int] | None:
        """Return how many elements each dimension has, None if one is not constant."""
        counts: list[int] = []
        for child in self._entries.children(entry):
            if child.tag != Tag.SUBRANGE:
                continue
            if len(counts) == _DEEPEST:
                raise DwarfError(f"an array has more than {_DEEPEST} dimensions")
            upper, lower = child.number(At.UPPER_BOUND), child.number(At.LOWER_BOUND, 0) or 0
            if At.COUNT in child.values or At.UPPER_BOUND in child.values:
                count = child.number(At.COUNT, None if upper is None else upper - lower + 1)
            else:
                count = 0
            if count is None:
                return None
            # DWARF 2 writes -1 in as many bytes as it likes where there are no elements.
            counts.append(0 if count < 0 or count in (1 << 32, 1 << 64) else count)
        return counts or [0]

    def _number(self, entry: Entry) -> _Number | None:
        """Return what a type without parts is; None for one that has no field type."""
        if entry.tag in _POINTERS:
            return _Number(FieldType.UNSIGNED, self._size(entry), self._order, {}, "hex")
        if entry.tag == Tag.ENUMERATION:
            size = self._size(entry)
            return _Number(FieldType.ENUM, size, self._order, self._names(entry)) if 1 <= size <= 8 else None
        if entry.tag != Tag.BASE:
            return None
        kind, size = _base(entry.number(At.ENCODING) or 0, self._size(entry))
        if kind is None:
            return None
        return _Number(kind, size, _ENDIANITY.get(entry.number(At.ENDIANITY) or 0, self._order), {})

    def _names(self, entry: Entry) -> dict[int, str]:
        names: dict[int, str] = {}
        for child in self._entries.children(entry):
            number = child.number(At.CONST_VALUE)
            if child.tag == Tag.ENUMERATOR and number is not None and len(names) < _MOST_ENUMERATORS:
                names.setdefault(number, child.name)
        return names

    def _is_text(self, entry: Entry) -> bool:
        """Tell plain char from the others: text is what C calls so, signed and unsigned char are small numbers."""
        return self._is_byte(entry) and entry.name == "char"

    def _is_byte(self, entry: Entry) -> bool:
        chars = (_SIGNED_CHAR, _UNSIGNED_CHAR)
        return entry.tag == Tag.BASE and entry.number(At.BYTE_SIZE) == 1 and entry.number(At.ENCODING) in chars

    def _type_of(self, entry: Entry) -> Entry | None:
        reference = entry.reference(At.TYPE)
        return None if reference is None else self._resolved(self._entries.at(reference))

    def _resolved(self, entry: Entry) -> Entry:
        """Return a type behind its names and qualifiers, and behind declarations."""
        for _ in range(_LONGEST_CHAIN):
            reference = entry.reference(At.TYPE) if entry.tag in _ALIASES else entry.reference(At.SIGNATURE)
            if not isinstance(reference, Reference):
                return entry
            entry = self._entries.at(reference)
        raise DwarfError(f"a type has more than {_LONGEST_CHAIN} names")

    def _size(self, entry: Entry) -> int:
        """Return the size of a resolved type in bytes; 0 where it has none."""
        size = entry.number(At.BYTE_SIZE)
        if size is not None:
            return size
        if entry.tag in _POINTERS:
            return entry.unit.address_size
        if entry.tag == Tag.ARRAY:
            return self._array_size(entry)
        return 0

    def _array_size(self, entry: Entry) -> int:
        size, kind = 1, entry
        for _ in range(_DEEPEST):
            for count in self._counts(kind) or [0]:
                size *= count
            element = self._type_of(kind)
            if element is None or size > MAX_SIZE:
                return 0
            if element.tag != Tag.ARRAY:
                return size * (element.number(At.BYTE_SIZE) or self._size(element))
            kind = element
        raise DwarfError(f"an array has more than {_DEEPEST} dimensions")


def _base(encoding: int, size: int) -> tuple[FieldType | None, int]:
    if encoding == _FLOAT:
        return _FLOATS.get(size), size
    if not 1 <= size <= 8:
        return None, size
    if encoding == _BOOLEAN:
        return FieldType.BOOL, size
    if encoding in _SIGNED:
        return FieldType.SIGNED, size
    return (FieldType.UNSIGNED if encoding in _UNSIGNED else None), size


def _location(member: Entry) -> int | None:
    """Return a member's place in bytes from the start of its structure, None where it is not constant."""
    value = member.values.get(At.DATA_MEMBER_LOCATION, 0)
    if isinstance(value, bytes):
        return _plus_constant(value)
    return value if isinstance(value, int) and 0 <= value <= MAX_SIZE else None


def _plus_constant(expression: bytes) -> int | None:
    """Return n of DW_OP_plus_uconst n, the only expression that compilers write here (DWARF 2)."""
    if not 2 <= len(expression) <= 6 or expression[0] != _OP_PLUS_UCONST:
        return None
    value = 0
    for place, byte in enumerate(expression[1:]):
        value |= (byte & 0x7F) << 7 * place
    return value if expression[-1] < 0x80 and value <= MAX_SIZE else None


def _signed32(value: int) -> int:
    """Return an offset that some producers write as an unsigned number though it is below 0."""
    for bits in (32, 64):
        if 0 <= (1 << bits) - value <= 64:
            return value - (1 << bits)
    return value
