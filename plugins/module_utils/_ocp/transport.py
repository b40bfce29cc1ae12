# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""TLS versions, certificates and proxies of a connection."""

from __future__ import annotations

import ssl
from typing import Any

from .deadline import Deadline, pool_classes
from .may_have_run import REPEATABLE
from .retries import CONNECT_RETRIES, READ_RETRIES, TRANSIENT_STATUSES, RateLimitRetry

try:
    from requests.adapters import HTTPAdapter
    from urllib3.util.ssl_ import create_urllib3_context
except ImportError:  # reported by bridge, with the name of the library
    HTTPAdapter = object  # type: ignore[misc, assignment]


class Adapter(HTTPAdapter):
    """The connections of one session.

    ``verify`` and ``client_cert`` as for HttpClient, ``budget`` as for RateLimitRetry. ``deadline`` is that of the
    current request.
    """

    def __init__(
        self, *, verify: bool | str, budget: float, deadline: Deadline, client_cert: tuple[str, str] | None = None
    ) -> None:
        self._pool_classes = pool_classes(deadline)
        self._context = create_urllib3_context()
        # The machine's OpenSSL configuration may allow older versions.
        self._context.minimum_version = ssl.TLSVersion.TLSv1_2
        if not verify:
            self._context.check_hostname = False
        if client_cert is not None:
            self._context.load_cert_chain(*client_cert)
        super().__init__(
            max_retries=RateLimitRetry(
                total=READ_RETRIES,
                # For every method: without a connection nothing was sent.
                connect=CONNECT_RETRIES,
                other=0,
                status_forcelist=TRANSIENT_STATUSES,
                allowed_methods=REPEATABLE,
                backoff_factor=0.3,
                raise_on_status=False,
                budget=budget,
                deadline=deadline,
            )
        )

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Connections to the service."""
        super().init_poolmanager(*args, **options, ssl_context=self._context)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Connections through a proxy."""
        manager = super().proxy_manager_for(proxy, **options, ssl_context=self._context)
        # Connections through a SOCKS proxy are of classes of their own, which know no deadline.
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = self._pool_classes
        return manager
