"""A fixed window a caller (spec/hub.md 3.2), bounded in memory."""


class RateWindow:
    """Counts calls per key; times are monotonic milliseconds. At `most_keys` the oldest windows make room."""

    def __init__(self, limit: int, window_ms: int, most_keys: int = 20_000) -> None:
        self.limit = limit
        self._window_ms = window_ms
        self._most_keys = most_keys
        self._windows: dict[str, list[int]] = {}  # key -> [start, count]

    def count(self, key: str, now: int) -> int:
        """One more call of `key`; how many are left to it now. Below zero it is refused, which counts too."""
        window = self._windows.get(key)
        if window is None or now - window[0] >= self._window_ms:
            if window is None and len(self._windows) >= self._most_keys:
                self.sweep(now)
            self._windows.pop(key, None)  # so that insertion order is age order
            self._windows[key] = window = [now, 0]
        window[1] += 1
        return self.limit - window[1]

    def retry_after_s(self, key: str, now: int) -> int:
        """In how many seconds the window of `key` is over."""
        start = self._windows[key][0]
        return max(1, -(-(start + self._window_ms - now) // 1000))

    def sweep(self, now: int) -> None:
        """Forget windows that are over; if that is not enough, the oldest tenth."""
        for key in [k for k, w in self._windows.items() if now - w[0] >= self._window_ms]:
            del self._windows[key]
        if len(self._windows) >= self._most_keys:
            for key in list(self._windows)[: self._most_keys // 10]:
                del self._windows[key]

    def __len__(self) -> int:
        return len(self._windows)
