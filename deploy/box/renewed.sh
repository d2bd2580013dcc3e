#!/bin/sh
# A renewal hook: brings a renewed certificate to the doors and starts broker and gateway anew, for both read it once.
# certbot runs it from /etc/letsencrypt/renewal-hooks/deploy/; by hand: RENEWED_LINEAGE=/etc/letsencrypt/live/NAME renewed.sh
# Under Docker COMPOSE_FILE names compose.yaml. Safe to repeat; a half is ended by the next run.
set -eu
if [ -n "${COMPOSE_FILE:-}" ]; then
  folder=$(dirname "$COMPOSE_FILE")/certificates certificate=certificate.pem key=key.pem owner=10001 group=10001
else
  folder=/etc/signage certificate=certificate.pem key=key.pem owner=root group=signage
fi
folder=${SIGNAGE_CERTIFICATES:-$folder} owner=${SIGNAGE_OWNER:-$owner} group=${SIGNAGE_GROUP:-$group}
install -o "$owner" -g "$group" -m 0640 "$RENEWED_LINEAGE/privkey.pem" "$folder/$key.new"
install -o "$owner" -g "$group" -m 0644 "$RENEWED_LINEAGE/fullchain.pem" "$folder/$certificate.new"
mv "$folder/$key.new" "$folder/$key"
mv "$folder/$certificate.new" "$folder/$certificate"
if [ -n "${COMPOSE_FILE:-}" ]; then
  docker compose --file "$COMPOSE_FILE" restart broker gateway
else
  systemctl restart signage-broker.service signage-gateway.service
fi
