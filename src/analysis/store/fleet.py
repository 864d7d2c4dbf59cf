"""Where a study's data come from a server: fetched once into a folder, whole or not at all, and read like any other."""

import os
import re
import shutil
import time
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib import parse

from analysis import paths
from analysis.sources.fleet_address import Address, is_address, parse_address
from analysis.sources.fleet_fetch import fetch
from analysis.sources.prometheus_server import ServerError
from analysis.store import fingerprint

__all__ = ["FLEETS", "ServerError", "study_of"]
FLEETS = paths.REPORTS / ".fleets"
Say = Callable[[str], None]


def study_of(data: str, say: Say = lambda text: None) -> Path:
    """The study directory that DATA names: a folder, or a server's address, whose period is fetched first.

    A folder whose study.toml has `prometheus = ["prometheus+http://..."]` gets what these say in a folder beside it.
    What was fetched is kept and not asked for again: remove it to ask anew. Raises NoSuchStudyError or ServerError.
    """
    if is_address(data):
        address = parse_address(data)
        _refuse_future(address)
        return _fetched(address, FLEETS / _name(address), say)
    folder = paths.find(data)
    for text in _declared(folder):
        address = parse_address(text)
        if address.moves:
            raise ServerError(f"{folder}/study.toml: prometheus= takes absolute times; with now the study would move")
        _refuse_future(address)
        _fetched(address, folder / f"prometheus-{_digest(address)}", say)
    return folder


def _declared(folder: Path) -> list[str]:
    """The addresses in study.toml; what is no text, or no TOML at all, is the reader's to complain about."""
    try:
        given = tomllib.loads((folder / "study.toml").read_text("utf-8-sig")).get("prometheus", [])
    except (OSError, ValueError, RecursionError):
        return []
    addresses = [given] if isinstance(given, str) else given
    return [one for one in addresses if isinstance(one, str)] if isinstance(addresses, list) else []


def _refuse_future(address: Address) -> None:
    if address.end > time.time() + 1:
        raise ServerError("end= is in the future: what is fetched is kept, and would stay incomplete")


def _fetched(address: Address, place: Path, say: Say) -> Path:
    if place.is_dir():
        say(f"fetched before: {place}")
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    # Hidden, so that a study's reader never sees a half of it.
    partial = place.with_name(f".{place.name}.partial-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        fetch(address, partial, say)
        partial.replace(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return place


def _name(address: Address) -> str:
    host = re.sub(r"[^A-Za-z0-9.-]+", "_", parse.urlsplit(address.base).hostname or "")[:60]
    return f"fleet-{host}-{datetime.fromtimestamp(address.start, UTC):%Y%m%dT%H%M}-{_digest(address)}"


def _digest(address: Address) -> str:
    return fingerprint.digest([address.canonical])[:8]
