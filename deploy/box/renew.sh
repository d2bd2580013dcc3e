#!/bin/sh
# Gets the box's certificate from an ACME authority, renews it when its end is near, and brings it to the doors.
# BOX_ACME_EMAIL: whom the authority writes to; without it nothing happens. BOX_ACME_SERVER: another authority than
# Let's Encrypt. The authority must reach port 80 of BOX_HOST. renew-signage-certificate.timer runs it twice a day.
set -eu
[ -n "${BOX_ACME_EMAIL:-}" ] || exit 0
certbot certonly --non-interactive --agree-tos --keep-until-expiring --standalone ${BOX_ACME_SERVER:+--server "$BOX_ACME_SERVER"} \
  --email "$BOX_ACME_EMAIL" --cert-name "$BOX_HOST" --domain "$BOX_HOST"
RENEWED_LINEAGE=/etc/letsencrypt/live/$BOX_HOST exec "$(dirname "$0")/renewed.sh"
