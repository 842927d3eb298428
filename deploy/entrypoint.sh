#!/bin/sh
# Starts evercrawl in a container. `serve` needs a token to accept connections from outside, and the URL where others
# reach it: without EVERCRAWL_TOKEN, a token is created once in /data; EVERCRAWL_PUBLIC_URL and EVERCRAWL_REPLAY_URL
# say where, if that is not this machine.
set -eu
if [ "${1:-}" = serve ]; then
  if [ -z "${EVERCRAWL_TOKEN:-}" ]; then
    umask 077
    [ -s /data/.token ] || python3 -c 'import secrets; print(secrets.token_hex(24))' > /data/.token
    EVERCRAWL_TOKEN=$(cat /data/.token)
    export EVERCRAWL_TOKEN
  fi
  set -- "$@" --public-url "${EVERCRAWL_PUBLIC_URL:-http://localhost:8787}" \
    --replay-url "${EVERCRAWL_REPLAY_URL:-http://localhost:8788}"
fi
unset EVERCRAWL_PUBLIC_URL EVERCRAWL_REPLAY_URL
exec evercrawl "$@"
