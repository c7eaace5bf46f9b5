# SPDX-License-Identifier: Apache-2.0
"""The host's side of authentication (SPEC section 10): what is believed, and how ours is sealed. Pure."""

from __future__ import annotations

from typing import Final

from vxmon.errors import WireError
from vxmon.wire.authentication import HOST, TARGET, ReplayWindow, Seal
from vxmon.wire.datagram import encode_datagram, seal_datagram
from vxmon.wire.types import Channel, Datagram, Header, Reply, Result

__all__ = ["Guard"]

_NO_KEY: Final = (
    "the target has a key and serves nobody without it: give it by --key-file, or by VXMON_KEY_FILE or VXMON_KEY in "
    "the environment"
)
_WRONG_KEY: Final = "the key is not that of this target"
_NO_KEY_THERE: Final = "a key is given and the target has none: leave the key out, or start the target with it"
# What a target may say to a hello before it knows who we are.
_PLAIN_RESULTS: Final = frozenset({Result.COOKIE, Result.BUSY, Result.KEY})


class Guard:
    """Lets everything pass without a key. ``failure`` says why this host and this target do not fit, "" if they do."""

    def __init__(self, key: bytes | None) -> None:
        self.failure = ""
        self._key = key
        self._ours: Seal | None = None
        self._theirs: Seal | None = None
        self._window = ReplayWindow()
        self._number = 0

    @property
    def active(self) -> bool:
        """True when only a target with the key is believed."""
        return self._key is not None

    def encode(self, header: Header, payload: bytes, *, plain: bool) -> bytes:
        """Make a datagram; sealed when there is a session, unless it must be plain."""
        if plain or self._ours is None:
            return encode_datagram(header, payload)
        self._number += 1
        return seal_datagram(header, payload, self._ours, self._number - 1)

    def admit(self, data: bytes, datagram: Datagram) -> bool:
        """True when the sender is known: no key is asked for, or the datagram's HMAC is right and new.

        Raises:
            WireError: kind "key": it is sealed, and not for us, not by the target, or it came before.

        """
        trailer, seal = datagram.trailer, self._theirs
        if trailer is None:
            return not self.active
        if seal is None or trailer.session != seal.session or not self._window.is_new(trailer.number):
            raise WireError("key", "a datagram of another session, or one that came before")
        if not seal.verifies(data):
            raise WireError("key", "a datagram with a wrong HMAC")
        self._window.take(trailer.number)
        return True

    def check_plain(self, datagram: Datagram, boot: int) -> None:
        """Refuse what must not be believed of a sender who is not known.

        Raises:
            WireError: kind "plain".

        """
        header = datagram.header
        greeting = header.channel == Channel.REPLY and header.fragments == 1
        if not greeting and not (header.channel == Channel.TABLE and header.boot == boot):
            raise WireError("plain", f"a datagram on channel {header.channel} without an HMAC")

    def check_plain_reply(self, reply: Reply, *, is_greeting: bool) -> None:
        """Refuse a reply without an HMAC, unless it answers a hello and lets nobody in; raises WireError."""
        if not is_greeting or reply.result not in _PLAIN_RESULTS:
            raise WireError("plain", "a reply without an HMAC")

    def take_welcome(self, reply: Reply) -> bool:
        """Take the answer to a hello; false when this host and this target do not fit (see ``failure``)."""
        if reply.result == Result.KEY:
            self.failure = _WRONG_KEY if self._key is not None else _NO_KEY
        elif reply.result == Result.COOKIE:
            self._take_challenge(reply)
        return not self.failure

    def _take_challenge(self, reply: Reply) -> None:
        key, challenge = self._key, reply.challenge
        if key is None or challenge is None:
            self.failure = _NO_KEY if challenge is not None else _NO_KEY_THERE if key is not None else ""
            return
        self._ours = Seal(key, HOST, challenge.nonce, challenge.session)
        self._theirs = Seal(key, TARGET, challenge.nonce, challenge.session)
        self._window = ReplayWindow()
        self._number = 0
