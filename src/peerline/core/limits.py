"""Every bound of the protocol, in one place (seed: «Limits, expiry, and retention»; spec/hub.md 7.6).

Lengths are UTF-16 code units, durations milliseconds, sizes bytes.
"""

from typing import Final

CONTENT: Final = 32_000
BODY_BYTES: Final = 262_144
TARGET: Final = 80
TARGET_WITH_ROOM: Final = 168
NAME: Final = 64
FALLBACK: Final = 50  # what a session keeps of a name that it cannot have, before its number
PURPOSE: Final = 256
PROJECT: Final = 128
MODEL: Final = 128
HOST: Final = 64
BRANCH: Final = 128
ID: Final = 80
CORRELATION_ID: Final = 128
IDEMPOTENCY_KEY: Final = 128

TTL_MIN_MS: Final = 1_000
TTL_MAX_MS: Final = 604_800_000
TTL_DEFAULT_MS: Final = 86_400_000
RETENTION_DEFAULT_MS: Final = 604_800_000

HOPS_MAX: Final = 100
MAX_HOPS_DEFAULT: Final = 5
MAX_HOPS_MAX: Final = 20
PATH: Final = 20

AWAIT_MAX_MS: Final = 60_000
FANOUT_TARGETS: Final = 3
FANOUT_WAIT_MIN_MS: Final = 100
FANOUT_WAIT_MAX_MS: Final = 1_800_000

AGENT_LEASE_MS: Final = 30_000
HEARTBEAT_MS: Final = 10_000
STREAM_HEARTBEAT_MS: Final = 15_000
CLIENT_TIMEOUT_MS: Final = 15_000

RATE_MAX: Final = 600
RATE_WINDOW_MS: Final = 60_000
QUEUE_LIMIT: Final = 1_000
REFUSALS: Final = 20
REFUSAL_KEPT_MS: Final = 3_600_000
PAIR_LIMIT: Final = 12
PAIR_WINDOW_MS: Final = 600_000

NOTES_PER_MESSAGE: Final = 20
NOTE: Final = 2_000
ADAPTER: Final = 64
REASON: Final = 200

LEASE_NAME: Final = 200
CLAIMED_PATHS: Final = 32
LEASE_TTL_MIN_MS: Final = 5_000
LEASE_TTL_MAX_MS: Final = 600_000
LEASE_TTL_DEFAULT_MS: Final = 300_000

SESSIONS_PER_AGENT: Final = 64
STREAMS_PER_AGENT: Final = 32
STREAM_BUFFER_BYTES: Final = 1_048_576
JSON_DEPTH: Final = 32
JSON_INTEGER: Final = 2**53
