"""/api/metrics: figures of the fleet and the service, for Prometheus."""

from collections.abc import Iterable, Iterator
from typing import Final

from flask import Response

from functions.api.routing import Bound, Call, Routes
from shared.overview.gauges import operations
from shared.overview.gauges.rules import PREFIX, Gauge
from shared.vocabulary import Role

routes = Routes("metrics", "/api/metrics", "Figures for Prometheus.")

PROMETHEUS: Final = "text/plain"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@routes.get("", role=Role.VIEWER, bound=Bound.FLEET, produces=(PROMETHEUS,))
def metrics(call: Call) -> Response:
    """Every gauge of the fleet and of the service, in the text format of Prometheus.

    A scraper sends a token with the role viewer. All figures are computed from the database at each request, so every
    instance answers the same. The bridge has its own /metrics. A label is never a client, a site or anything else that
    grows with the fleet.
    """
    with call.transaction() as (connection, now):
        gauges = operations.measure(connection, now, call.services.config)
    return Response(_text(gauges), content_type=CONTENT_TYPE)


def _text(gauges: Iterable[Gauge]) -> bytes:
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - cold start
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415 - cold start
    from prometheus_client.registry import Collector  # noqa: PLC0415 - cold start

    class Given(Collector):
        """The collector of prometheus_client for these gauges."""

        def collect(self) -> Iterator[GaugeMetricFamily]:
            for gauge in gauges:
                family = GaugeMetricFamily(PREFIX + gauge.name, gauge.meaning, labels=gauge.labels)
                for labels, value in gauge.samples:
                    family.add_metric(labels, float(value))
                yield family

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Given())
    return generate_latest(registry)
