"""What was not done, said in one line."""


class Refused(Exception):
    """Said to whoever called, instead of a traceback."""


def reported(function):
    """Prints a refusal; everything else that fails is a fault and keeps its traceback."""
    def call(*args, **kwargs):
        try:
            function(*args, **kwargs)
        except (Refused, OSError) as refusal:
            print(f"ERROR: {refusal}")
    call.__name__, call.__doc__, call.__wrapped__ = function.__name__, function.__doc__, function
    return call
