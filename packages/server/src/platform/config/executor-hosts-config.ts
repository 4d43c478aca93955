import { MIN_SECRET_LENGTH, Secret } from '@tendon/protocol/masking';

/** A `tendon executor`. */
export interface ExecutorHost {
  readonly url: URL;
  readonly key: Secret | undefined;
}

interface ExecutorHostValues {
  readonly RUNTIME: string;
  readonly SANDBOX_REMOTE_RUNTIME_API_URL: readonly string[];
  readonly SANDBOX_API_KEY?: Secret | undefined;
}

/** One key for all hosts, or one for each in the order of the addresses. A text says what is wrong. */
export function executorHostsConfig({
  RUNTIME,
  SANDBOX_REMOTE_RUNTIME_API_URL: addresses,
  SANDBOX_API_KEY: key,
}: ExecutorHostValues): readonly ExecutorHost[] | string {
  if (addresses.length === 0)
    return RUNTIME === 'remote' ? 'SANDBOX_REMOTE_RUNTIME_API_URL: the address of `tendon executor` is needed with RUNTIME=remote' : [];
  if (new Set(addresses.map((address) => new URL(address).href)).size < addresses.length)
    return 'SANDBOX_REMOTE_RUNTIME_API_URL: an address stands there twice';
  const keys = addresses.length === 1 || key === undefined ? [key] : secretsIn(key);
  if (keys === undefined) return 'SANDBOX_API_KEY: a key of several is too short';
  if (keys.length !== 1 && keys.length !== addresses.length)
    return `SANDBOX_API_KEY: one key for all, or ${addresses.length} keys with commas between them are expected, one for each address`;
  return addresses.map((address, index) => ({ url: new URL(address), key: keys[keys.length === 1 ? 0 : index] }));
}

/** `undefined` when one could not be hidden in logs. */
function secretsIn(keys: Secret): readonly Secret[] | undefined {
  const parts = keys
    .reveal()
    .split(',')
    .map((one) => one.trim());
  return parts.every((one) => one.length >= MIN_SECRET_LENGTH) ? parts.map((one) => new Secret(one)) : undefined;
}
