#!/bin/sh
# Installs the agent of Signage Fleet on this display and connects it:
#     sh install.sh URL CODE [--player UNIT] [--ca FILE]
set -eu

stop() {
    echo "install: $*" >&2
    exit 1
}

fetch() {
    if command -v curl >/dev/null; then
        curl -fsS ${ca:+--cacert "$ca"} --max-time 120 -o "$2" "$1"
    else
        wget -q ${ca:+"--ca-certificate=$ca"} -T 120 -O "$2" "$1"
    fi
}

main() {
    [ $# -ge 2 ] || stop "two words are needed: the service's address and the code"
    [ "$(id -u)" = 0 ] || stop "only root can install; put sudo before sh"
    command -v apt-get >/dev/null || stop "there is no apt-get: this needs Debian 12 or 13, or Raspberry Pi OS"
    [ -d /run/systemd/system ] || stop "systemd does not run here"
    ca=
    before=
    for word; do
        [ "$before" != --ca ] || ca=$word
        before=$word
    done
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    chmod 755 "$folder" # apt reads the package as a user of its own
    file=$folder/signage-display.deb
    fetch "${1%/}/display/signage-display.deb" "$file" || stop "the package cannot be fetched from $1"
    echo "@SHA256@  $file" | sha256sum --check --status || stop "the package is not the one this installer is for"
    echo "install: apt-get installs it; if it needs Debian's servers and cannot reach them, that takes minutes"
    export DEBIAN_FRONTEND=noninteractive
    install_it="apt-get install -y -q --no-install-recommends --allow-downgrades --reinstall $file"
    $install_it >"$folder/log" 2>&1 || {
        apt-get update -q >>"$folder/log" 2>&1 || true
        $install_it >>"$folder/log" 2>&1 || {
            cat "$folder/log" >&2
            stop "apt-get could not install the package"
        }
    }
    signage-display enrol "$@"
}

main "$@"
