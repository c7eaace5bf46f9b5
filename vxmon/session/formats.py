# SPDX-License-Identifier: Apache-2.0
"""Numbers of the capture formats: pcapng (draft-ietf-opsawg-pcapng), pcap (draft-ietf-opsawg-pcap), link types."""

from __future__ import annotations

from typing import Final

__all__ = [
    "BYTE_ORDER_MAGIC",
    "ENHANCED_PACKET",
    "INTERFACE",
    "LINK_TYPES",
    "MAX_BLOCK",
    "MAX_PACKET",
    "PACKET",
    "PCAP_MAGICS",
    "SECTION",
    "SIMPLE_PACKET",
    "STATISTICS",
    "name_content",
]

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
PACKET: Final = 2  # obsolete, still written by old tools
SIMPLE_PACKET: Final = 3
STATISTICS: Final = 5
ENHANCED_PACKET: Final = 6
BYTE_ORDER_MAGIC: Final = 0x1A2B3C4D

# A longer block or packet is damage, not data: the largest snapshot length of tcpdump is 256 KiB.
MAX_BLOCK: Final = 1 << 24
MAX_PACKET: Final = 1 << 18

# First four bytes -> (byte order, ns in a unit of the second time field).
PCAP_MAGICS: Final[dict[bytes, tuple[str, int]]] = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}

# Link types that can carry our datagrams -> (where the EtherType is, or -1, and where IP begins).
LINK_TYPES: Final[dict[int, tuple[int, int]]] = {
    1: (12, 14),  # Ethernet
    113: (14, 16),  # Linux cooked
    276: (0, 20),  # Linux cooked v2
    101: (-1, 0),  # raw IP, also under the numbers 12 and 14
    12: (-1, 0),
    14: (-1, 0),
    228: (-1, 0),  # IPv4
}

_CONTENT: Final = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "an ELF file"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first"),
    (b"\xfd7zXZ", "compressed by xz; unpack it first"),
    (b"BZh", "compressed by bzip2; unpack it first"),
    (b"TRACE_HEADER_BEGIN", "a QNX trace (.kev)"),
    (b"\xa1\xb2\xcd\x34", "a pcap file of a modified libpcap, which is not supported"),
    (b"\x34\xcd\xb2\xa1", "a pcap file of a modified libpcap, which is not supported"),
    (b"\xc1\x1f\xfc\xc1", "a CTF trace"),
    (b"\xc1\xfc\x1f\xc1", "a CTF trace"),
    (b"VXMN", "a bare vxmon datagram"),
    (b"VXMIDX", "a kept index of a session; give the session itself"),
    (b"#!", "a script"),
)


def name_content(head: bytes) -> str:
    """What the first bytes of a file look like, in words, for messages about files that cannot be used."""
    for magic, name in _CONTENT:
        if head.startswith(magic):
            return name
    if not head.strip(b"\0"):
        return "only zero bytes"
    if all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in head):
        return "a text file"
    return "data of an unknown format"
