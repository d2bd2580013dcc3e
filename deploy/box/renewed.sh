#!/bin/sh
# Brings a renewed certificate to the doors: the gateway takes it up without a gap, the broker starts anew.
# certbot may run it from /etc/letsencrypt/renewal-hooks/deploy/; by hand: RENEWED_LINEAGE=/etc/letsencrypt/live/NAME renewed.sh
# Under Docker COMPOSE_FILE names compose.yaml. It does nothing if the doors have the certificate; the next run ends a half.
set -eu
if [ -n "${COMPOSE_FILE:-}" ]; then
  folder=$(dirname "$COMPOSE_FILE")/certificates certificate=certificate.pem key=key.pem owner=10001 group=10001
else
  folder=/etc/signage certificate=certificate.pem key=key.pem owner=root group=signage
fi
folder=${SIGNAGE_CERTIFICATES:-$folder} owner=${SIGNAGE_OWNER:-$owner} group=${SIGNAGE_GROUP:-$group}
due=$folder/.doors-have-an-older-certificate
if [ ! -e "$due" ] && cmp -s "$RENEWED_LINEAGE/fullchain.pem" "$folder/$certificate" \
  && cmp -s "$RENEWED_LINEAGE/privkey.pem" "$folder/$key"; then
  exit 0
fi
touch "$due"
install -o "$owner" -g "$group" -m 0640 "$RENEWED_LINEAGE/privkey.pem" "$folder/$key.new"
install -o "$owner" -g "$group" -m 0644 "$RENEWED_LINEAGE/fullchain.pem" "$folder/$certificate.new"
mv "$folder/$key.new" "$folder/$key"
mv "$folder/$certificate.new" "$folder/$certificate"
if [ -n "${COMPOSE_FILE:-}" ]; then
  docker compose --file "$COMPOSE_FILE" restart broker gateway
else
  systemctl try-reload-or-restart signage-gateway.service
  systemctl try-restart signage-broker.service
fi
rm "$due"
