#!/bin/bash
# Installs Tendon in a container. It needs Node 20 or newer, which the package manager of the image or nodejs.org has.
set -e
if command -v tendon > /dev/null; then exit 0; fi
if ! command -v npm > /dev/null && command -v apt-get > /dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs npm git > /dev/null
fi
if ! command -v npm > /dev/null; then
  echo "There is no npm in this image, and no apt-get to install it." >&2
  exit 1
fi
if ! node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)'; then
  echo "Tendon needs Node 20 or newer; this image has $(node --version)." >&2
  exit 1
fi
if [ ! -f /installed-agent/tendon.tgz ]; then
  echo "Name the packed Tendon with TENDON_PACKAGE (node scripts/pack.mjs && npm pack ./.cache/package makes it), or use an image that has it." >&2
  exit 1
fi
npm install -g --no-audit --no-fund /installed-agent/tendon.tgz
