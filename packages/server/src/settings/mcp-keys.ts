import { Secret } from '@tendon/protocol/masking';
import { isMaskedKey, MASKED_KEY, type McpConfig } from '@tendon/protocol';

type Remote = McpConfig['sse_servers'][number] | McpConfig['shttp_servers'][number];
type Variables = Readonly<Record<string, string>>;

/** What a client is shown: which keys and variables there are, never what they are. */
export function maskedMcp(config: McpConfig): McpConfig {
  const masked = <R extends Remote>(server: R): R => (keyOf(server) ? ({ ...(server as object), api_key: MASKED_KEY } as R) : server);
  return {
    sse_servers: config.sse_servers.map(masked),
    shttp_servers: config.shttp_servers.map(masked),
    stdio_servers: config.stdio_servers.map((server) => ({
      ...server,
      env: mapped(server.env, (name, value) => (isSecret(name) ? MASKED_KEY : value)),
    })),
  };
}

/** A mask that comes back stands for the key that is stored for the same address, or the same program; it is sent nowhere else. */
export function withStoredKeys(update: McpConfig, stored: McpConfig): McpConfig {
  const known = new Map([...stored.sse_servers, ...stored.shttp_servers].map((server) => [urlOf(server), keyOf(server)]));
  const withStoredKey = <R extends Remote>(server: R): R => {
    if (!isMaskedKey(keyOf(server) ?? '')) return server;
    return { ...(server as object), api_key: known.get(urlOf(server)) ?? null } as R;
  };
  const programs = new Map(stored.stdio_servers.map((server) => [programOf(server), server.env]));
  return {
    sse_servers: update.sse_servers.map(withStoredKey),
    shttp_servers: update.shttp_servers.map(withStoredKey),
    stdio_servers: update.stdio_servers.map((server) => {
      const before = programs.get(programOf(server)) ?? {};
      const held = (name: string, value: string): string =>
        isMaskedKey(value) ? (Object.hasOwn(before, name) ? before[name]! : '') : value;
      return { ...server, env: mapped(server.env, held) };
    }),
  };
}

/**
 * Every key in it; a variable is one when its name says so.
 * @internal
 */
export function keysOfMcp({ sse_servers, shttp_servers, stdio_servers }: McpConfig): readonly string[] {
  return [
    ...[...sse_servers, ...shttp_servers].flatMap((server) => keyOf(server) ?? []),
    ...stdio_servers.flatMap(({ env }) => Object.entries(env).flatMap(([name, value]) => (isSecret(name) ? [value] : []))),
  ];
}

/** The same, as what is hidden. */
export function secretsOfMcp(config: McpConfig): readonly Secret[] {
  return keysOfMcp(config).map((key) => new Secret(key));
}

function keyOf(server: Remote): string | undefined {
  return typeof server === 'string' ? undefined : (server.api_key ?? undefined);
}

export function urlOf(server: Remote): string {
  return typeof server === 'string' ? server : server.url;
}

function programOf({ name, command, args }: McpConfig['stdio_servers'][number]): string {
  return JSON.stringify([name, command, args]);
}

function mapped(variables: Variables, value: (name: string, old: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, old]) => [name, value(name, old)]));
}

function isSecret(variable: string): boolean {
  return /key|token|secret|passw|credential|auth/i.test(variable);
}
