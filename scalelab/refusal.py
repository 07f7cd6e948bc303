"""The two ends of a run that are no bug: it was refused, or it failed. All else that is raised is one.

Standard library only; every layer may import it.
"""


class Refusal(ValueError):
    """What a user did wrong, in one sentence: X must be so, got this: do that."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(f"{sentence}: {remedy}" if remedy else sentence)
        self.remedy = remedy  # for those who begin the sentence in another way


class Failure(RuntimeError):
    """What was asked for rightly and went wrong: a process that died, a disk that is full."""

    output = ""  # the end of what the process had written
