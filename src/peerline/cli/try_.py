"""`peerline try`: the whole story in half a minute, with real processes; each step checks what came back."""

import os
import signal
import sys
import threading
import time
from typing import Final

from peerline.cli.try_narrator import Narrator
from peerline.cli.try_stage import Broken, Stage
from peerline.cli.try_story import STEPS, Story

DEADLINE_S: Final = 60.0
TO_READ_S: Final = 1.2


def main() -> int:
    """Tell the story on stdout; 0 when every step did what the story says of it, else 1."""
    tell = Narrator(sys.stdout)
    overdue = threading.Timer(DEADLINE_S, os.kill, (os.getpid(), signal.SIGTERM))
    overdue.daemon = True
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    overdue.start()
    try:
        with Stage(tell) as stage:
            story = Story(stage)
            for title, step in STEPS:
                tell.chapter(title)
                step(story)
                if sys.stdout.isatty():
                    time.sleep(TO_READ_S)  # all of it takes some three seconds, too fast to follow
    except Broken as broken:
        tell.failure(str(broken))
        tell.line("", "The demo ends here: this step did not do what the story says.")
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped after {tell.seconds():.0f} s; nothing is left running", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Nobody reads any more; without this Python complains about it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    finally:
        overdue.cancel()
        signal.signal(signal.SIGTERM, before)
    tell.chapter(f"All {len(STEPS)} chapters did what they say, in {tell.seconds():.1f} s. Nothing is left running.")
    print("Now yours: `peerline up`, then `peerline list` and `peerline ask NAME TEXT`.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
