import { hostPattern, type NetworkPolicy } from '@tendon/runtime';
import { z } from 'zod';
import { flag, list, count, size } from './environment-values.ts';

const lowerList = list.transform((parts) => parts.map((part) => part.toLowerCase()));
const PLACE = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+):(\d{1,5})$/;

/** The egress of sandboxes, as the environment names it. */
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

/** The most that a conversation can have, and what it has by default. */
export function networkConfig(values: z.output<typeof NetworkEnvironment>): NetworkPolicy {
  return {
    mode: values.SANDBOX_NETWORK,
    allow: values.SANDBOX_NETWORK_ALLOW,
    allowPrivate: values.SANDBOX_NETWORK_ALLOW_PRIVATE.map((place) => place.replace(/^\[(.*)\]:/, '$1:')),
  };
}

export interface CloneLimits {
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
  /** Newest commits that are fetched; default all. */
  readonly depth?: number;
}

/** What the clone of a conversation's repository may take. */
export const CloneEnvironment = z.object({
  SANDBOX_CLONE_SECONDS: count(10).default(900),
  SANDBOX_CLONE_SIZE: size('1m').default(4 * 1024 ** 3),
  SANDBOX_CLONE_DEPTH: count(1).optional(),
});

export function cloneConfig(values: z.output<typeof CloneEnvironment>): CloneLimits {
  const { SANDBOX_CLONE_SECONDS: timeoutSeconds, SANDBOX_CLONE_SIZE: maxBytes, SANDBOX_CLONE_DEPTH: depth } = values;
  return { timeoutSeconds, maxBytes, ...(depth && { depth }) };
}
