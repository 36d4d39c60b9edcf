"""Prints what the scanner reaches on the corpora: `python -m tests.network.scanner.figures [seed]`."""

import random
import string
import sys
import time
from collections import Counter

from peerline.network.scanner.scan import scan
from tests.network.scanner.clean_corpus import identifiers, messages
from tests.network.scanner.disguises import DISGUISES
from tests.network.scanner.secrets_corpus import PREFIXED, filled, secrets


def main(seed: int) -> None:
    chance = random.Random(seed)
    samples = secrets(chance, 150)
    missed = [sample for sample in samples if not scan(sample.text)]
    print(f"recall       {len(samples) - len(missed)} of {len(samples)}  missed: {sorted({s.kind for s in missed})}")
    hidden = [
        (name, kind, hide(filled(pattern, chance), chance))
        for name, hide in DISGUISES.items()
        for kind, pattern in PREFIXED.items()
    ]
    unseen = [(name, kind) for name, kind, text in hidden if not scan(text)]
    print(f"disguises    {len(hidden) - len(unseen)} of {len(hidden)}")
    print("   ", Counter(name for name, _ in unseen).most_common(8))
    print("   ", Counter(kind for _, kind in unseen).most_common(12))
    clean = [*messages(chance, 5_000), *identifiers(chance, 500)]
    alarms = [text for text in clean if scan(text)]
    print(f"false alarms {len(alarms)} of {len(clean)}")
    for text in alarms[:8]:
        print("   ", [f"{f.rule}@{f.line}" for f in scan(text)], text.split("\n")[scan(text)[0].line - 1][:110])
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randrange(2, 11))) for _ in range(3_000)]
    for name, text in {
        "prose": "\n".join(" ".join(chance.choices(words, k=12)) for _ in range(5_000)),
        "messages": "\n".join(clean),
    }.items():
        text = text[:262_144]
        times = []
        for _ in range(9):
            started = time.process_time()
            scan(text)
            times.append((time.process_time() - started) * 1_000)
        times.sort()
        print(f"CPU time of 256 KiB of {name}: {times[0]:.0f} ms, median {times[4]:.0f} ms; {len(scan(text))} found")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
