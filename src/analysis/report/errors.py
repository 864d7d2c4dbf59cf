"""What can go wrong while a report is made, as one sentence for the person who asked for it."""


class ReportError(Exception):
    """The report could not be made; the message is one sentence that says what to do."""
