"""A toy engine for the tests of whose turn it is: steps, streams, and what clients write down. Seeded.

It shares nothing with the estimates but the columns that clients record. A step takes a fixed time, a little for each
stream that decodes, and the prompt tokens in it over the rate; every stream that decodes gets one token at its end.
"""

from dataclasses import dataclass, field

import numpy as np

from analysis.estimates.stalls import Requests

STEP_S, STREAM_S, RATE = 0.018, 0.001, 11_000.0


@dataclass
class Engine:
    """How an engine takes turns.

    `budget` is the prompt tokens of a step (inf: a prompt is never cut). `alternate`: a step without any prompt in
    between. `elsewhere`: prompts run on another device. `shared`: the shortest prompt first instead of first come.
    """

    budget: float = float("inf")
    alternate: bool = False
    elsewhere: bool = False
    shared: bool = False


@dataclass
class Client:
    """What stands between engine and record.

    `early_s` of delay at most between sending and the engine's queue, `flush_s` of a proxy that passes tokens on at
    such intervals, `jitter_s` of arrival, the share of chats `seen`.
    """

    early_s: float = 0.0
    flush_s: float = 0.0
    jitter_s: float = 0.0
    seen: float = 1.0


@dataclass
class _Request:
    sent: float
    queued: float
    prompt: int
    output: int
    is_long: bool
    left: float = 0.0
    got: list[float] = field(default_factory=list)


def simulate(
    rng: np.random.Generator,
    engine: Engine,
    *,
    turns: int,
    prompt: float = 16_000,
    sigma: float = 0.03,
    at_once: int = 1,
    client: Client | None = None,
    chats: int = 3,
) -> Requests:
    """A run with `turns` turns of `at_once` long prompts each, beside closed-loop chats; the record of its clients."""
    client = client or Client()
    waiting: list[_Request] = []
    running: list[_Request] = []
    done: list[_Request] = []
    now, at, toggle = 0.0, 15.0, False
    coming: list[_Request] = []
    for _ in range(turns):
        for _ in range(at_once):
            length = int(prompt * np.exp(rng.normal(0, sigma)))
            sent = at + rng.uniform(0, 0.05)
            coming.append(_Request(sent, sent + rng.uniform(0, client.early_s), length, 8, True, length))
        at += 3 + at_once * 1.6 * prompt / RATE + rng.exponential(1.0)
    until = at + 5
    for _ in range(chats):
        coming.append(_chat(rng, rng.uniform(0, 0.5)))
    while now < until:
        coming.sort(key=lambda r: r.queued)
        while coming and coming[0].queued <= now:
            waiting.append(coming.pop(0))
        if not waiting and not running:
            now = coming[0].queued
            continue
        room = 0.0 if engine.alternate and toggle else engine.budget
        toggle = not toggle
        work, finished = _prefill(waiting, room, engine, now)
        took = STEP_S + STREAM_S * len(running) + (0.0 if engine.elsewhere else work / RATE)
        now += took * np.exp(rng.normal(0, 0.03))
        for request in running + finished:
            request.got.append(now)
        running += finished
        for request in [r for r in running if len(r.got) >= r.output]:
            running.remove(request)
            done.append(request)
            if not request.is_long:
                coming.append(_chat(rng, now + rng.uniform(0, 0.2)))
    return _record(rng, [r for r in done + running if r.got], client)


def _chat(rng: np.random.Generator, sent: float) -> _Request:
    length = int(rng.uniform(60, 200))
    return _Request(sent, sent, length, int(rng.uniform(150, 300)), False, length)


def _prefill(waiting: list[_Request], room: float, engine: Engine, now: float) -> tuple[float, list[_Request]]:
    """Prompt tokens of this step, and the requests whose prompt is done at its end."""
    if engine.elsewhere:
        for request in waiting:
            request.left = request.prompt - (now - request.queued) * RATE
        ready = [r for r in waiting if r.left <= 0]
        waiting[:] = [r for r in waiting if r.left > 0]
        return 0.0, ready
    order = sorted(waiting, key=lambda r: r.left) if engine.shared else list(waiting)
    work, ready = 0.0, []
    for request in order:
        part = min(request.left, room - work)
        if part <= 0:
            break
        request.left -= part
        work += part
        if request.left <= 0:
            ready.append(request)
            waiting.remove(request)
        if room == float("inf") and request.is_long:
            break  # an exclusive engine takes one long prompt at a time
    return work, ready


def _record(rng: np.random.Generator, requests: list[_Request], client: Client) -> Requests:
    keep = [r for r in requests if r.is_long or rng.random() < client.seen]
    arrivals = []
    for request in keep:
        at = np.array(request.got)
        if client.flush_s:
            phase = rng.uniform(0, client.flush_s)
            at = np.ceil((at - phase) / client.flush_s) * client.flush_s + phase
        arrivals.append(np.sort(at + rng.exponential(client.jitter_s, len(at)) if client.jitter_s else at))
    return Requests(
        sent_s=np.array([r.sent for r in keep]),
        first_s=np.array([a[0] for a in arrivals]),
        end_s=np.array([a[-1] for a in arrivals]),
        tokens=np.array([r.prompt for r in keep], dtype=float),
        is_long=np.array([r.is_long for r in keep]),
        arrivals=arrivals,
    )
