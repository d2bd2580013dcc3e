"""`python -m deploy.box.dashboard`: serves only the dashboard's files, in the cloud, where a load balancer speaks TLS.

It is the same nginx with the same headers as on one machine. The load balancer sends `/api/` to the api function.
Environment: DASHBOARD_HOST, the name under which people open the dashboard; PORT (8080).
"""

import os
import sys
import tempfile
from pathlib import Path

from deploy.box.run import become
from deploy.parts import gateway as nginx
from deploy.parts.config_file import Listener
from deploy.parts.gateway import Gateway, GatewayUnusable

NOBODY_LISTENS = 9  # the discard port


def main() -> int:
    """Become nginx. Returns only if that fails."""
    host = os.environ.get("DASHBOARD_HOST", "")
    if not host:
        print("DASHBOARD_HOST is not set (the name under which people open the dashboard).", file=sys.stderr)
        return 2
    run = Path(tempfile.mkdtemp(prefix="signage-dashboard-"))
    gateway = Gateway(run, int(os.environ.get("PORT") or "8080"), NOBODY_LISTENS)
    nginx.prepare(gateway, Listener("0.0.0.0", names=(host,)))  # nosec B104 - a load balancer stands before it
    try:
        command = nginx.command(gateway)
    except GatewayUnusable as error:
        print(error, file=sys.stderr)
        return 2
    return become(command, {"PATH": os.environ.get("PATH", os.defpath)})


if __name__ == "__main__":
    sys.exit(main())
