import { hostPattern, type NetworkPolicy } from '@tendon/runtime';
import { z } from 'zod';
import { flag, list } from './environment-values.ts';

const lowerList = list.transform((parts) => parts.map((part) => part.toLowerCase()));
const PLACE = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+):(\d{1,5})$/;

/** The way out of sandboxes, as the environment names it. */
export const NetworkEnvironment = z.object({
  SANDBOX_NETWORK: z.enum(['none', 'allowlist', 'full'], 'expected none, allowlist or full').default('full'),
  SANDBOX_NETWORK_ALLOW: lowerList
    .refine(
      (hosts) => hosts.every((host) => hostPattern(host) !== undefined),
      'names are expected, or *.name for every name below, with commas between',
    )
    .default([]),
  SANDBOX_NETWORK_ALLOW_PRIVATE: lowerList
    .refine(
      (places) => places.every((place) => Number(PLACE.exec(place)?.[2] ?? 65_536) <= 65_535),
      'host:port is expected, with commas between',
    )
    .default([]),
  SANDBOX_PROXY_RESOLVES: flag.default(false),
});

/** The most that a conversation can have, and what it has without a wish. */
export function networkConfig(values: z.output<typeof NetworkEnvironment>): NetworkPolicy {
  return {
    mode: values.SANDBOX_NETWORK,
    allow: values.SANDBOX_NETWORK_ALLOW,
    allowPrivate: values.SANDBOX_NETWORK_ALLOW_PRIVATE.map((place) => place.replace(/^\[(.*)\]:/, '$1:')),
  };
}
