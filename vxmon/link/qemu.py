# SPDX-License-Identifier: Apache-2.0
"""The demo target on QEMU: where its image is, how it is started, and that nothing of it is left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from vxmon.errors import InputError, TargetError, VxmonError
from vxmon.wire.datagram import DEFAULT_PORT

__all__ = [
    "LIVE",
    "REPEATABLE",
    "Boot",
    "DemoTarget",
    "check_port",
    "dump_options",
    "find_image",
    "forward_options",
    "free_port",
]

_QEMU: Final = "qemu-system-ppc"
_IMAGE: Final = Path("build/ppce500/kernel.elf")
_MACHINE: Final = (
    "-M ppce500 -cpu e500mc -m 128 -display none -monitor none -nodefaults "
    "-device pvpanic-pci -action panic=exit-failure"
).split()
# A 125 MIPS processor: paced to real time, or as fast as it goes with time that nothing outside can disturb.
LIVE: Final = "shift=3,align=on"
REPEATABLE: Final = "shift=3,sleep=off"
_TAIL: Final = 4096
_ELF: Final = b"\x7fELF"
_PANIC: Final = "panic: "
# How the kernel begins when it does not like a boot parameter.
_REFUSED: Final = "boot "


@dataclass(frozen=True, slots=True)
class Boot:
    """Boot parameters of the demo kernel (target_c/kernel/README.md). Empty ones are left out."""

    entropy: int
    scenario: str = ""
    port: int = DEFAULT_PORT
    run: str = ""
    release: str = ""
    peer: str = ""
    config: str = ""
    extra: tuple[str, ...] = ()

    @classmethod
    def fresh(cls, scenario: str = "", extra: Iterable[str] = ()) -> Self:
        """Parameters of one boot, with entropy of its own."""
        return cls(secrets.randbits(64), scenario, extra=tuple(extra))

    @property
    def text(self) -> str:
        """The words of the boot arguments."""
        words = [f"entropy=0x{self.entropy:016x}", f"port={self.port}"]
        for key in ("scenario", "run", "release", "config"):
            value = getattr(self, key)
            words += [f"{key}={value}"] if value else []
        words += ["autostart=1", f"peer={self.peer}"] if self.peer else []
        return " ".join([*words, *self.extra])


def find_image(given: str | None = None) -> Path:
    """Where the demo kernel is.

    The file given, else $VXMON_TARGET, else build/ of the checkout around the current folder or this code.

    Raises:
        InputError: the one named is not there, or is none.
        TargetError: there is none; the message says how to make it.

    """
    for source, name in (("", given), ("VXMON_TARGET: ", os.environ.get("VXMON_TARGET"))):
        if name:
            _check_image(Path(name), source)
            return Path(name)
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (folder / "proto/SPEC.md").is_file() and (folder / _IMAGE).is_file():
            return folder / _IMAGE
    raise TargetError(
        "the demo target is not built: run 'make build' in a checkout of vxmon and stay in it, "
        "or name its image by --image or VXMON_TARGET"
    )


def _check_image(path: Path, source: str) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_ELF))
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"{source}{path}: there is no such image of the demo target: {why}") from error
    if magic != _ELF:
        raise InputError(f"{source}{path}: not an ELF file, so no image of the demo target")


def check_port(port: int) -> None:
    """Raise TargetError when somebody uses that UDP port of 127.0.0.1: QEMU would share it, and steal."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind(("127.0.0.1", port))
        except OSError as error:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            raise TargetError(f"UDP port {port} of 127.0.0.1 {why}; choose another with --port") from error


def free_port() -> int:
    """A UDP port of 127.0.0.1 that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def forward_options(port: int, target_port: int = DEFAULT_PORT) -> list[str]:
    """Network options: a UDP port of 127.0.0.1 leads to the target."""
    # restrict=on would keep the target to itself, but drops its answers over UDP too (QEMU 7.2).
    forward = f"user,id=n0,hostfwd=udp:127.0.0.1:{port}-:{target_port}"
    return ["-netdev", forward, "-device", "eTSEC,netdev=n0"]


def dump_options(file: Path) -> list[str]:
    """Network options: nobody else is there, and QEMU itself records every frame in a pcap file."""
    return [
        *"-netdev hubport,id=n0,hubid=0 -device eTSEC,netdev=n0 -object".split(),
        f"filter-dump,id=f0,netdev=n0,file={str(file).replace(',', ',,')}",
    ]


class DemoTarget:
    """A running demo target. Ends with this process, however that ends.

    With ``foreground`` its console is our standard output and the terminal's ctrl-C reaches it. A ``key`` reaches the
    kernel as its boot file, which only this user can read; QEMU's command line has its name alone.

    Raises:
        TargetError: QEMU is not there or does not start.

    """

    def __init__(
        self, image: Path, boot: Boot, network: list[str], clock: str, *, foreground: bool = False,
        key: bytes | None = None,
    ) -> None:  # fmt: skip
        qemu = shutil.which(_QEMU)
        if qemu is None:
            raise TargetError(f"{_QEMU} is not installed; on Debian: apt-get install qemu-system-ppc")
        self._foreground = foreground
        self._folder = Path(tempfile.mkdtemp(prefix="vxmon-"))
        console = "stdio" if foreground else f"file:{self._folder / 'console'}"
        command = [
            *_leash(), qemu, *_MACHINE, "-icount", clock, "-serial", console, *network,
            "-kernel", str(image), "-append", boot.text, *self._boot_file(key),
        ]  # fmt: skip
        try:
            with (self._folder / "errors").open("wb") as errors:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=None if foreground else subprocess.DEVNULL,
                    stderr=errors,
                    # A group of its own keeps the terminal's ctrl-C away: the target must live until it was stopped.
                    process_group=None if foreground else 0,
                )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise TargetError(f"{qemu}: cannot be started: {error.strerror}") from error

    def _boot_file(self, key: bytes | None) -> list[str]:
        """QEMU's options for the key."""
        if key is None:
            return []
        path = self._folder / "key"
        path.touch(mode=0o600)
        path.write_text(key.hex(), encoding="ascii")
        return ["-initrd", str(path)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def check(self) -> None:
        """Raise TargetError when the target has ended."""
        if self._process.poll() is not None:
            raise self.failure()

    def failure(self) -> VxmonError:
        """Why it ended, in the kernel's own words where it has any."""
        words = self.last_words()
        if words.startswith(_REFUSED):
            return InputError(f"the demo target refuses: {words}")
        return TargetError(f"the demo target has ended ({self._status()}): {words}")

    def _status(self) -> str:
        code = self._process.returncode
        return signal.Signals(-code).name if code < 0 else f"status {code}"

    def wait(self, seconds: float, going_on: Iterable[object] = ()) -> int:
        """Wait for its end; returns the exit status. ``going_on`` is asked again and again and may raise.

        Raises:
            TargetError: it has not ended in time.

        """
        give_up = time.monotonic() + seconds
        steps = iter(going_on)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(timeout=0.05)
            next(steps, None)
            if time.monotonic() > give_up:
                raise TargetError(f"the demo target has not ended after {seconds:.0f} s: {self.last_words()}")

    def last_words(self) -> str:
        """What the kernel panicked with, else the last lines of console and QEMU, for messages."""
        lines: list[str] = []
        for name in ("console", "errors"):
            with contextlib.suppress(OSError):
                data = (self._folder / name).read_bytes()[-_TAIL:]
                text = data.decode("latin-1").replace("\r", "")
                lines += [line.strip() for line in text.splitlines() if _tells(line)]
        panics = [line.partition(_PANIC)[2] for line in lines if _PANIC in line]
        printable = "".join(c if c.isprintable() else " " for c in " | ".join(panics[:1] or lines[-3:]))
        return printable or ("see its console" if self._foreground else "it said nothing")

    def stop(self) -> None:
        """End it, if it has not ended; may be called again."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(timeout=10)
        shutil.rmtree(self._folder, ignore_errors=True)


def _tells(line: str) -> bool:
    """Lines that help; QEMU's remarks on pacing and on the network without a host do not."""
    idle = ("guest is now late", "guest is late", "hub 0 is not connected", "terminating on signal", "slirp")
    return bool(line.strip()) and not any(text in line.lower() for text in idle)


def _leash() -> list[str]:
    """Words before a command that let the kernel end it when we are gone, even by SIGKILL."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
