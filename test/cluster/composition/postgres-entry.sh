#!/bin/sh
# Does what the entry point of the official image of Postgres documents, as far as deploy/compose asks for it: makes the cluster in PGDATA once, with
# POSTGRES_USER, the password in POSTGRES_PASSWORD_FILE, POSTGRES_DB and POSTGRES_INITDB_ARGS, and serves it on every address.
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown postgres "$PGDATA" /run/postgresql
  chmod 700 "$PGDATA"
  # Its secrets are readable to root alone on some machines.
  cp "$POSTGRES_PASSWORD_FILE" /run/postgres-password
  chown postgres /run/postgres-password
  POSTGRES_PASSWORD_FILE=/run/postgres-password exec setpriv --reuid=postgres --regid=postgres --init-groups sh "$0"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Words are split: these are options.
  # shellcheck disable=SC2086
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 $POSTGRES_INITDB_ARGS
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl start -w -D "$PGDATA" -o "-c listen_addresses="
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl stop -w -D "$PGDATA"
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
