"""Random damage to every kind of real file, through the readers and into a store: `make fuzz SECONDS=600`.

Each round takes a real file (cases, samples, the recorded study), damages it, and reads it. A fault is an exception
that is not UnreadableFileError, rows that the store's tables do not take, or a read longer than MAX_SECONDS. The seed
of each round is printed with a fault; `python tests/fuzz.py --seed N` repeats one.
"""

import argparse
import gzip
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

import duckdb

from analysis import paths
from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.registry import reader_of
from analysis.store.load import _Loader

MAX_SECONDS = 20.0
MAX_BYTES = 300_000
TOKENS = [b"NaN", b"-Inf", b"1e999", b"9" * 400, b"\x00", b"\xff\xfe", b"\r", b"\n", b'"', b"\\", b"{", b"}",
          b"[" * 300, b",", b"null", b"-1", b"\x1b[31m", b"#", b"le=", b"</script>", b"true",
          b"\xe2\x80\xae", b" "]  # fmt: skip


def corpus() -> list[Path]:
    """Real files of every format."""
    here = Path(__file__).parent
    found = [p for p in sorted(here.glob("cases/*/*/*")) + sorted(here.glob("samples/**/*")) if p.is_file()]
    recorded = paths.DATA / "vllm-cpu"
    found += [recorded / name for name in ("study.toml", "boots.jsonl", "boots/A2.log", "boots/R1.log")]
    found += [next((recorded / "metrics" / "A2").iterdir()), *sorted((recorded / "requests" / "A2").iterdir())]
    return [*found, *list((recorded / "host").iterdir())[:1]]


def damage(data: bytes, chance: random.Random) -> bytes:
    """A few random edits: cut, drop, repeat, swap, flip, insert."""
    data = data[:MAX_BYTES]
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + chance.choice((1, 8, 60, 2000)))
        piece = data[at:to]
        edit = chance.randrange(6)
        if edit == 0:
            data = data[:at] if chance.random() < 0.3 else data[:at] + data[to:]
        elif edit == 1:
            data = data[:at] + piece * chance.randint(2, 4) + data[to:]
        elif edit == 2:
            data = data[:at] + bytes(byte ^ (1 << chance.randrange(8)) for byte in piece[:40]) + data[at + 40 :]
        elif edit == 3:
            data = data[:at] + chance.choice(TOKENS) + data[to:]
        elif edit == 4:
            data = data[:at] + chance.choice(TOKENS) + data[at:]
        else:
            data = data[to:] + data[at:to] + data[:at]
    return gzip.compress(data)[: chance.choice((None, 500))] if chance.random() < 0.05 else data


def one_round(seed: int, files: list[Path], folder: Path) -> str | None:
    """Damage one file and read it; the fault as text, or None."""
    chance = random.Random(seed)
    original = chance.choice(files)
    content = original.read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    target = folder / original.name.removesuffix(".gz")
    target.write_bytes(damage(content, chance))
    file = SourceFile(f"x/{target.name}", target, target.stat().st_size, 0.0)
    started = time.monotonic()
    try:
        reader = reader_of(file)
        if reader is not None:
            with duckdb.connect() as connection:
                reader.read(file)
                loader = _Loader(connection)
                loader._read(file, None)
                loader.rows.flush()
    except UnreadableFileError as error:
        return None if str(error).strip() else f"seed {seed}: {original}: an empty message"
    except Exception:
        return f"seed {seed}: {original}\n{traceback.format_exc()}"
    finally:
        target.unlink()
    took = time.monotonic() - started
    return f"seed {seed}: {original}: {took:.0f} s" if took > MAX_SECONDS else None


def main() -> int:
    """Run for a while, or one seed; exit status 1 when there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    files, rounds, faults = corpus(), 0, 0
    until = time.monotonic() + options.seconds
    first = options.seed if options.seed is not None else random.randrange(10**9)
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            if fault := one_round(first + rounds, files, Path(folder)):
                faults += 1
                print(fault, flush=True)
            rounds += 1
            if options.seed is not None:
                break
    print(f"{rounds} files damaged and read, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
