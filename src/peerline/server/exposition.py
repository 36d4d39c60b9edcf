"""A snapshot of numbers as Prometheus text; prometheus-client is loaded by the first one who asks."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from peerline.core.histogram import Distribution

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Series(NamedTuple):
    labels: Mapping[str, str]
    values: Distribution


class Snapshot(NamedTuple):
    """Names, one line about each, and their values; counters' names end in `_total`."""

    version: str
    gauges: tuple[tuple[str, str, float], ...]
    counters: tuple[tuple[str, str, float], ...]
    distributions: tuple[tuple[str, str, tuple[Series, ...]], ...]


class _Collector:
    """prometheus-client's way of asking for values that are kept elsewhere."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Any]:
        from prometheus_client.metrics_core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
            InfoMetricFamily,
        )

        snapshot = self._snapshot
        yield InfoMetricFamily("kxm_hub", "the hub", value={"version": snapshot.version})
        for name, about, value in snapshot.gauges:
            yield GaugeMetricFamily(name, about, value=value)
        for name, about, value in snapshot.counters:
            yield CounterMetricFamily(name, about, value=value)
        for name, about, series in snapshot.distributions:
            family = HistogramMetricFamily(name, about, labels=list(series[0].labels) if series else [])
            for labels, values in series:
                bounds = [*map(str, map(float, values.bounds)), "+Inf"]
                family.add_metric(list(labels.values()), list(zip(bounds, values.cumulative, strict=True)), values.sum)
            yield family


def render(snapshot: Snapshot) -> bytes:
    from prometheus_client import exposition

    return exposition.generate_latest(_Collector(snapshot))
