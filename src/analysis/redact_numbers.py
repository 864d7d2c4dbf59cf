"""Numbers of people and of their banks: told by the word before them, by their form, or by their check digits.

A figure, a time or a count has none of these: it stays.
"""

from collections.abc import Callable

_QUOTE = r"""\\?["']?"""
_AFTER = rf"""{_QUOTE}(?:\s?[:=#]\s?|[ ]){_QUOTE}"""
_NO_FIGURE = r"(?!\w|[,.-]\d|\s?(?:tokens?|bytes?|requests?|blocks?|steps?|[kmgt]i?b|[mµun]?s)\b)"
_NUMBER_OF = r"(?:[ _-]?(?:number|num|nr|no)\b\.?)?"
_ACCOUNT = rf"\b(?<!into )(?:accounts?|acct|bban|routing number){_NUMBER_OF}(?:_?id)?{_AFTER}"
_CARD = r"\b(?:card|visa|mastercard|amex)\b[^\d\n]{0,20}"
_PHONE = rf"\b(?:(?:tele|mobile[ _-]?)?phone|tel|mobile|fax|whatsapp){_NUMBER_OF}{_AFTER}"
_NOT_ABROAD = r"(?<![\w+.,-])(?!\+\d{1,3} \d{4}-\d\d-\d\d|\+\d{1,3}(?: \d{3})+(?!\d))"
"""A time zone before a date, and thousands with blanks between them, have a form of their own."""


def _digits(least: int, most: int) -> Callable[[str], bool]:
    return lambda text: least <= sum(map(str.isdecimal, text)) <= most


def _is_iban(text: str) -> bool:
    """Whether the check digits of a bank account's number hold (ISO 13616)."""
    return len(text) >= 15 and int("".join(str(int(ch, 36)) for ch in text[4:] + text[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    """Whether the last digit of a card's number follows from the others (ISO 7812)."""
    doubled = [int(ch) * (1 + at % 2) for at, ch in enumerate(reversed(text))]
    return 13 <= len(text) <= 19 and sum(n - 9 * (n > 9) for n in doubled) % 10 == 0


NUMBERS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("account", r"()(?<![\w-])([a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?)(?![\w-])", _is_iban),
    ("account", rf"({_CARD})((?:\d{{4}}[ -]?){{3}}\d{{1,7}})(?!\d|[.,]\d)", _is_card),
    ("account", rf"({_ACCOUNT})(\d(?:[ -]?\d){{7,19}}){_NO_FIGURE}", _digits(8, 20)),
    ("phone", rf"({_PHONE})(\+?\(?\d[\d ()./-]{{5,18}}\d){_NO_FIGURE}", _digits(7, 15)),
    ("phone", rf"({_NOT_ABROAD})(\+[1-9]\d{{0,2}}[ -](?:\(\d{{1,4}}\)|\d{{1,5}})(?:[ /-]\d{{2,8}}){{1,4}}){_NO_FIGURE}",
     _digits(9, 15)),
    ("phone", rf"()(?<![\w.,+])(\(\d{{3}}\) ?\d{{3}}-\d{{4}}){_NO_FIGURE}", _digits(10, 10)),
)  # fmt: skip
"""What is left of each (account, phone), the word before it and the number, and whether it is one."""
