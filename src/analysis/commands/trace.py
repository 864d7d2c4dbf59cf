"""Load an engine with chats and long prompts for a while, and write down when each token arrived."""

import argparse
import sys
import time
from pathlib import Path

LONGEST_S = 3600.0
MOST_REQUESTS = 10_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """URL, the two files of prompts, and the limits."""
    parser.add_argument("url", help="the engine, as http://127.0.0.1:8000")
    parser.add_argument("chat", type=Path, help="file of short prompts, one a line")
    parser.add_argument("batch", type=Path, help="file of long prompts, one a line; four times the block in question")
    parser.add_argument("--out", type=Path, help="the trace to write (default: trace-<time>.jsonl here)")
    parser.add_argument("--model", default="", help="default: the first that the engine names")
    parser.add_argument("--seconds", type=float, default=180, help="how long, the first quarter with chats alone")
    parser.add_argument("--requests", type=int, default=300, help="the most requests to send")
    parser.add_argument("--chats", type=int, default=3, help="chats at once")
    parser.add_argument("--batches", type=int, default=1, help="long prompts at once")
    parser.add_argument("--allow-remote", action="store_true", help="the engine may be on another machine")


def run(options: argparse.Namespace) -> int:
    """Send, write, and print the path of the trace last."""
    from analysis import trace_client as client

    try:
        if not (0 < options.seconds <= LONGEST_S and 0 < options.requests <= MOST_REQUESTS):
            raise client.TraceError(
                f"give at most {LONGEST_S:.0f} seconds and {MOST_REQUESTS} requests, more than none"
            )
        if not (0 < options.chats <= 64 and 0 < options.batches <= 64):
            raise client.TraceError("give between 1 and 64 chats and long prompts at once")
        place = client.endpoint(options.url, allow_remote=options.allow_remote)
        chats = client.Traffic("chat", client.read_prompts(options.chat), options.chats, 96)
        batches = client.Traffic("batch", client.read_prompts(options.batch), options.batches, 16)
        place.model = options.model or client.first_model(place)
        run_id = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        out = options.out or Path(f"trace-{run_id}.jsonl")
        with out.open("x", encoding="utf-8") as file:
            tracer = client.Tracer(place, file, options.requests, run_id)
            try:
                tracer.run((chats,), (batches,), options.seconds / 4, options.seconds)
            except KeyboardInterrupt:
                print("stopped early; what ended so far is written", file=sys.stderr)
    except client.TraceError as error:
        print(error, file=sys.stderr)
        return 1
    except FileExistsError:
        print(f"{out} is there already, and a trace is never overwritten: give another OUT=...", file=sys.stderr)
        return 1
    print(f"{tracer.written} requests written", file=sys.stderr)
    print(out)
    return 0
