#!/bin/sh
# Gets the box's certificate from an ACME authority, renews it when a third of its lifetime is left (a half, if it lasts
# 45 days or less: `certificate_old` tells of the last third, at most 14 days), and brings it to the doors. certbot of
# Debian 12 knows 30 days only, so it would renew at each run.
# BOX_ACME_EMAIL: whom the authority writes to; without it nothing happens. BOX_ACME_SERVER: another authority than
# Let's Encrypt. The authority must reach port 80 of BOX_HOST. renew-signage-certificate.timer runs it twice a day.
set -eu
[ -n "${BOX_ACME_EMAIL:-}" ] || exit 0

is_due() { # the certificate's file
  [ -e "$1" ] || return 0
  begins=$(date -d "$(openssl x509 -in "$1" -noout -startdate | cut -d= -f2)" +%s)
  ends=$(date -d "$(openssl x509 -in "$1" -noout -enddate | cut -d= -f2)" +%s)
  lifetime=$((ends - begins)) share=3
  [ "$lifetime" -gt $((45 * 86400)) ] || share=2
  [ $((ends - $(date +%s))) -le $((lifetime / share)) ]
}

! is_due "/etc/letsencrypt/live/$BOX_HOST/cert.pem" || certbot certonly --non-interactive --agree-tos --force-renewal --standalone ${BOX_ACME_SERVER:+--server "$BOX_ACME_SERVER"} \
  --email "$BOX_ACME_EMAIL" --cert-name "$BOX_HOST" --domain "$BOX_HOST"
RENEWED_LINEAGE=/etc/letsencrypt/live/$BOX_HOST exec "$(dirname "$0")/renewed.sh"
