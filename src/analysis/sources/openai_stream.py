"""One answer of an OpenAI-style server, put together from its stream events or read from its body."""

from dataclasses import dataclass, field
from typing import Any

from analysis.sources.json_text import Fields, clean
from analysis.sources.reading import Reading, Row

TEXT_KEYS = ("content", "text", "reasoning", "reasoning_content", "refusal")
MAX_TEXT_CHARS = 1 << 20


@dataclass(slots=True)
class Answer:
    """What the events of one request add up to. Output is an event with text, reasoning or a tool call.

    The first event of a chat stream only names the role, the last ones carry the finish reason and, with `choices`
    empty, the usage; of several usages the last holds, because servers that send one in each chunk count up.
    """

    reading: Reading
    what: str
    line: int
    id: str | None = None
    event_at_s: list[float] = field(default_factory=list)
    last_at_s: float | None = None
    timed: bool = True
    text: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    done: bool = False

    def add(self, at_s: float | None, data: dict[str, Any]) -> None:
        """Take one event, or a whole body, that arrived at `at_s` (null when the capture has no times)."""
        fields = Fields(data, self.what, self.line, self.reading)
        self.id = self.id or fields.text("id")
        self.last_at_s = at_s if at_s is not None else self.last_at_s
        if data.get("error") is not None:
            self.error = fields.words("error")
        elif data.get("object") == "error":
            self.error = fields.words("message") or "error"
        if isinstance(data.get("usage"), dict):
            self.usage = data["usage"]
        carries = [self._choice(choice) for choice in fields.array("choices") or () if isinstance(choice, dict)]
        if any(carries):
            if at_s is None:
                self.timed = False
            else:
                self.event_at_s.append(at_s)

    def _choice(self, choice: dict[str, Any]) -> bool:
        fields = Fields(choice, self.what, self.line, self.reading)
        self.finish_reason = fields.text("finish_reason") or self.finish_reason
        carries = False
        for part in (choice, choice.get("delta"), choice.get("message")):
            if isinstance(part, dict):
                texts = [text for key in TEXT_KEYS if isinstance(text := part.get(key), str) and text]
                self.text += map(clean, texts)
                carries = carries or bool(texts or part.get("tool_calls") or part.get("function_call"))
        return carries

    def row(self, sent_at_s: float | None, streamed: bool = True) -> Row:
        """Its columns of table `requests`, times on the clock of the events; only a stream has a first token time."""
        usage = Fields(self.usage, self.what, self.line, self.reading)
        tokens, prompt = usage.count("completion_tokens"), usage.count("prompt_tokens")
        events = self.event_at_s if streamed and self.timed else []
        first, last = (events[0], events[-1]) if events else (None, None)
        finished = self.last_at_s
        return {
            "request": self.id, "server_request": self.id, "status": self._status(),
            "sent_at_s": sent_at_s, "first_token_at_s": first, "last_token_at_s": last, "finished_at_s": finished,
            "ttft_s": first - sent_at_s if first is not None and sent_at_s is not None else None,
            "e2e_s": finished - sent_at_s if finished is not None and sent_at_s is not None else None,
            "token_at_s": events or None,
            "token_event": ("token" if len(events) == tokens else "chunk") if events else None,
            "prompt_tokens": prompt, "output_tokens": tokens,
            "tokens_counted_by": "server" if tokens is not None else None,
            "finish_reason": self.finish_reason, "error": self.error,
            "output_text": "".join(self.text)[:MAX_TEXT_CHARS] or None,
        }  # fmt: skip

    def _status(self) -> str:
        if self.error is not None:
            return "error"
        return "ok" if self.done or self.finish_reason is not None else "incomplete"
