#!/bin/sh
# Install a built wheel in a fresh environment, crawl a small site on this machine, and uninstall it.
# Prints one line: Python, packages, megabytes, seconds. Needs no root.
#   deploy/try_install.sh dist/evercrawl-0.2.0-py3-none-any.whl python3.13
set -eu
wheel=$(realpath "$1")
python=${2:-python3}
folder=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CONFIG_HOME="$folder/config" XDG_STATE_HOME="$folder/state" EVERCRAWL_CONTACT=install@example.org

began=$(date +%s)
"$python" -m venv env
env/bin/pip install --quiet --disable-pip-version-check "$wheel"
installed=$(date +%s)
packages=$(env/bin/pip list --format=freeze --disable-pip-version-check | grep -Evc '^(pip|setuptools)==')
megabytes=$(du -sm --exclude=pip --exclude=setuptools --exclude=pkg_resources env/lib | cut -f1)

mkdir site
echo '<title>Harbour</title><h1>Harbour</h1><p>Ships arrive at noon. <a href="tides.html">Tides</a>' > site/index.html
echo '<title>Tides</title><h1>Tides</h1><p>High water at eight, low water at two.' > site/tides.html
env/bin/python -u -m http.server --bind 127.0.0.1 --directory site 0 > server.log 2>&1 &
server=$!
until grep -q 'port [0-9]' server.log; do sleep 0.2; done
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.log)

evercrawl="env/bin/evercrawl -C first.evercrawl"
$evercrawl --no-progress crawl "http://127.0.0.1:$port/" --allow-private --pace own > crawl.log 2>&1 || { cat crawl.log; exit 1; }
$evercrawl search "high water" 2> /dev/null | grep -q tides
$evercrawl why "http://127.0.0.1:$port/tides.html" | grep -q tides
$evercrawl links "http://127.0.0.1:$port/" | grep -q tides.html
$evercrawl verify > /dev/null
env/bin/evercrawl doctor > doctor.log || true  # 1: no name server or browser here.
grep -q "pip install 'evercrawl\[graph\]'" doctor.log
if $evercrawl graph > graph.log 2>&1; then echo "the link graph should name its extra" >&2; exit 1; fi
grep -q "pip install 'evercrawl\[graph\]'" graph.log
env/bin/pip uninstall --quiet --yes evercrawl
test ! -e env/bin/evercrawl
"$python" -c 'import platform; print(platform.python_version(), end=": ")'
echo "$packages packages, $megabytes MB, installed in $((installed - began)) s; crawl, search, doctor and uninstall work"
