# SPDX-License-Identifier: Apache-2.0
"""Options of ``vxmon capture``, the closing summary, and that help costs no imports."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from vxmon.errors import InputError, TargetError
from vxmon.link.capture import Status
from vxmon.link.qemu import Boot, check_port, find_image
from vxmon.link.repeatable import boot_config
from vxmon.link.selection import select_events
from vxmon.link.summary import Summary
from vxmon.wire.events import TABLES
from vxmon.wire.types import Policy, RunConfig
from vxmon_cli.main import COMMANDS
from vxmon_cli.params import SCENARIOS, BootParameter, Size, split_address
from vxmon_cli.progress import size_text, status_line, summary_lines
from vxmon_cli.stopping import Stop

TABLE = TABLES["2.4"]
OFFERED = frozenset(event.id for event in TABLE.events)
IDS = {event.name: event.id for event in TABLE.events}


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("500k", 512_000), ("20M", 20 << 20), ("1G", 1 << 30), (" 3m ", 3 << 20)]
)
def test_sizes(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "k", "1.5M", "-1", "0", "0M", "5T", "1kk", "²", "999999999999999G"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Size().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10.0.0.1", ("10.0.0.1", 6530)), ("target", ("target", 6530)), ("a.b:1", ("a.b", 1)), ("h:65535", ("h", 65535))],
)
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert split_address(text, 6530) == expected


@pytest.mark.parametrize("text", ["", ":1", "a:", "a:0", "a:65536", "a:b", "a:1:2", "::1", "a b", "a:-1", "a:9999999"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="no "):
        split_address(text, 6530)


def test_help_loads_neither_numpy_nor_protobuf_nor_a_command() -> None:
    code = (
        "import sys; sys.argv = ['vxmon', '--help']\n"
        "from vxmon_cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: status = end.code\n"
        "heavy = {'numpy', 'google', 'rich', 'lxml'} | {m for m in sys.modules if 'vxmon_cli.commands.' in m}\n"
        "print(status, sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    assert out.splitlines()[-1] == "0 []"
    for name in COMMANDS:
        assert name in out


def test_help_of_a_command_needs_no_numpy() -> None:
    code = (
        "import sys; sys.argv = ['vxmon', 'capture', '--help']\n"
        "from vxmon_cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print('numpy' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    assert out.splitlines()[-1] == "False"


# ---------------------------------------------------------------- events


def test_all_events_are_recorded_unless_told_otherwise() -> None:
    assert select_events(TABLE, OFFERED) == OFFERED
    assert select_events(TABLE, OFFERED - {IDS["USER"]}) == OFFERED - {IDS["USER"]}


def test_only_some_events_and_the_recorders_own() -> None:
    control = {event.id for event in TABLE.events if event.klass == "CONTROL"}
    assert select_events(TABLE, OFFERED, ["window"]) == control | {IDS["WINDOW"]}


def test_without_classes() -> None:
    left = select_events(TABLE, OFFERED, (), ["INT", "ker"])
    assert left == {event.id for event in TABLE.events if event.klass not in ("INT", "KER")}
    with pytest.raises(InputError, match=r"class CONTROL cannot be left out: .*START, STOP .* belong to every run"):
        select_events(TABLE, OFFERED, (), ["control"])


def test_names_not_offered_are_refused() -> None:
    with pytest.raises(InputError, match="'USER' is no event of this target"):
        select_events(TABLE, OFFERED - {IDS["USER"]}, ["USER"])
    with pytest.raises(InputError, match=r"'X' is no class .* COMM, CONTROL"):
        select_events(TABLE, OFFERED, (), ["X"])


def test_classes_and_events_are_told_apart() -> None:
    with pytest.raises(InputError, match=r"^KER_CALL is an event, its class is KER$"):
        select_events(TABLE, OFFERED, (), ["ker_call"])
    with pytest.raises(InputError, match=r"^KER is a class, its events are: KER_CALL"):
        select_events(TABLE, OFFERED, ["ker"])


# ---------------------------------------------------------------- the demo target


def test_boot_parameters() -> None:
    boot = Boot(0x1234, "chatter", run="10s", release="2.2", extra=("rate=5",))
    assert boot.text == "entropy=0x0000000000001234 port=6530 scenario=chatter run=10s release=2.2 rate=5"
    assert Boot.fresh().entropy != Boot.fresh().entropy


def test_boot_configuration_of_a_run() -> None:
    config = RunConfig(unit_slots=256, units=8, policy=Policy.LINEAR, high_water=50, flush_ms=20, datagram_bytes=600)
    text = boot_config(config, OFFERED, 1.5)
    assert text == "ms:1500,oneway:1,datagram:600,unit:256,units:8,highwater:50,flush:20,policy:linear"
    assert boot_config(RunConfig(), frozenset({1, 2, 33}), 2) == "ms:2000,oneway:1,on:1+2+33"


def test_where_the_image_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = tmp_path / "tree/build/ppce500/kernel.elf"
    inside = tmp_path / "tree/a/b"
    for folder in (image.parent, inside, tmp_path / "tree/proto"):
        folder.mkdir(parents=True)
    image.write_bytes(b"")
    (tmp_path / "tree/proto/SPEC.md").write_text("")
    monkeypatch.delenv("VXMON_TARGET", raising=False)
    monkeypatch.chdir(inside)
    assert find_image() == image
    other = tmp_path / "other.elf"
    other.write_bytes(b"\x7fELF")
    monkeypatch.setenv("VXMON_TARGET", str(other))
    assert find_image() == other
    assert find_image(str(other)) == other
    with pytest.raises(InputError, match=r"none\.elf: there is no such image"):
        find_image(str(tmp_path / "none.elf"))
    with pytest.raises(InputError, match=r"kernel\.elf: not an ELF file"):
        find_image(str(image))


def test_scenarios_are_those_of_the_kernel() -> None:
    source = (Path(__file__).parents[2] / "target_c/kernel/core/scenario.c").read_text()
    names = re.search(r"NAME\[\] = \{(.*?), NULL\}", source, re.DOTALL)
    assert names is not None
    assert tuple(re.findall(r'"(\w+)"', names[1])) == SCENARIOS


def test_boot_parameters_given_are_known_ones() -> None:
    """Each is also known to the kernel."""
    source = (Path(__file__).parents[2] / "target_c/kernel/core/parameters.c").read_text()
    with pytest.raises(click.BadParameter, match="'x' is no boot parameter; there are: address") as refused:
        BootParameter().convert("x=1", None, None)
    for key in refused.value.message.partition("there are: ")[2].split(", "):
        assert f'"{key}"' in source
        assert BootParameter().convert(f"{key}=1", None, None) == f"{key}=1"
    for text in ("", "rate", "rate=", "=1", "rate=1 2", "rate=1\t", "rate=é"):
        with pytest.raises(click.BadParameter, match="no KEY=VALUE"):
            BootParameter().convert(text, None, None)


def test_a_port_in_use_is_not_shared() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        with pytest.raises(TargetError, match=f"port {port} of 127.0.0.1 is in use; choose another with --port"):
            check_port(port)


# ---------------------------------------------------------------- summary


def test_the_summary_names_every_loss() -> None:
    summary = Summary(
        recorded=1_000_000, delivered=999_000, lost={"overwritten": 900, "link": 100}, blocks=10, datagrams=12,
        duplicates=1, resends=2, corrupt=3, socket_drops=4, seconds=1.25,
    )  # fmt: skip
    assert summary_lines(summary, "x.pcapng", 1536) == [
        "x.pcapng: 1.5 KiB in 1.2 s",
        "events: recorded 1,000,000, delivered 999,000, lost 1,000 (overwritten 900, link 100)",
        "datagrams: 12 received, 10 blocks, 1 duplicates, 2 resends, 3 corrupt, 4 dropped by the socket",
    ]
    assert "recorded not told" in summary_lines(Summary(recorded=None), "x", 0)[1]


def test_a_narrow_terminal_gets_fewer_fields_and_no_cut_words() -> None:
    status = Status(12.34, 1_234_567, 25_000.4, 7, 0.05, 3 << 20)
    whole = status_line(status, 200)
    assert whole.split() == "12.3 s 1,234,567 events 25,000/s lost 7 buffers 5% 3.0 MiB".split()
    for width in range(20, len(whole) + 1):
        line = status_line(status, width)
        assert len(line) <= width
        assert whole == line or whole.startswith(f"{line}  ")


def test_signals_are_noted_before_there_is_anything_to_stop() -> None:
    """The first one while modules are loaded raises nothing there, but is not lost."""
    stop, stopped = Stop(), []
    stop(signal.SIGTERM, None)
    with pytest.raises(KeyboardInterrupt), stop.ready():
        pytest.fail("it went on")
    assert stop.status == 128 + 15
    stop = Stop()
    with stop.ready():
        stop.capture = lambda: stopped.append(1)
        stop(signal.SIGHUP, None)
        stop(signal.SIGHUP, None)
        assert stopped == [1]
        with pytest.raises(KeyboardInterrupt):
            stop(signal.SIGINT, None)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_the_target_is_sought_ends_with_one_line(number: int, status: int) -> None:
    """Also a SIGINT that was ignored when the command began, as shells do for background jobs."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(60)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        code = (
            "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "from vxmon_cli.main import main; main()"
        )  # fmt: skip
        with subprocess.Popen(
            [sys.executable, "-c", code, "capture", address, "-o", "/dev/null"], stderr=subprocess.PIPE, text=True
        ) as process:
            silent.recv(2048)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (status, "vxmon: stopped\n")


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 40, "5.0 TiB")])
def test_sizes_in_words(size: int, text: str) -> None:
    assert size_text(size) == text
