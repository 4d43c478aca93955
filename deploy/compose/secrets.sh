#!/bin/sh
# Makes the secrets of compose.yaml, once: what is there stays. The key of the models comes from LLM_API_KEY.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
# A container reads them as another user than the one who made them; the folder is closed to everybody else.
make() {
  if [ -s "secrets/$1" ]; then return; fi
  printf '%s' "$2" >"secrets/$1"
  chmod 444 "secrets/$1"
}
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
make postgres-password "$(random)"
make database-url "postgres://tendon:$(cat secrets/postgres-password)@postgres:5432/tendon?sslmode=disable"
make jwt-secret "$(random)"
make session-api-key "$(random)"
make executor-key "$(random)"
make llm-api-key "${LLM_API_KEY:-}"
