# SPDX-License-Identifier: Apache-2.0
"""A group of commands that loads a command when it is used, so that the others cost nothing."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, cast

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """Commands of which each is the only public name of the module that is called as it is.

    Args:
        package: where the modules are.
        words: command -> the word on it in the list.

    """

    def __init__(self, *args: Any, package: str, words: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._package = package
        self._words = words

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        del ctx
        return sorted(self._words)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one."""
        del ctx
        if cmd_name not in self._words:
            return None
        module = importlib.import_module(f"{self._package}.{cmd_name.replace('-', '_')}")
        return cast("click.Command", getattr(module, module.__all__[0]))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them without loading them."""
        del ctx
        if self._words:
            with formatter.section("Commands"):
                formatter.write_dl(sorted(self._words.items()))
