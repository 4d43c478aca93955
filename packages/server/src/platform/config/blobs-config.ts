import { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import type { CloudEnvironment } from './cloud-account.ts';

/** A bucket in place of the folder `blobs`. */
export interface BlobsConfig {
  readonly bucket: string;
  readonly prefix: string;
  /** Unset: Amazon's. */
  readonly endpoint: URL | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | undefined;
}

const WORDS = 'an address like s3://bucket/prefix?endpoint=http://127.0.0.1:9000 is expected; a prefix has letters, digits, . _ - and /';

/** `s3://bucket/prefix?endpoint=…&region=…` */
const address = z.string().transform((text, { addIssue }) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const prefix = url?.pathname.replace(/^\/+|\/+$/g, '') ?? '';
  const endpoint = url?.searchParams.get('endpoint') ?? undefined;
  const isEndpoint = endpoint === undefined || (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol));
  const region = url?.searchParams.get('region') ?? undefined;
  const isWhole = url?.protocol === 's3:' && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname) && /^[\w./-]*$/.test(prefix);
  if (isWhole && isEndpoint && /^[a-z0-9-]*$/.test(region ?? ''))
    return { bucket: url.hostname, prefix, endpoint: endpoint === undefined ? undefined : new URL(endpoint), region };
  addIssue(WORDS);
  return z.NEVER;
});

export const BlobsEnvironment = z.object({ TENDON_BLOBS: address.optional() });

type Values = { readonly TENDON_DATABASE_URL?: unknown } & z.output<typeof BlobsEnvironment> & z.output<typeof CloudEnvironment>;

/** Undefined: a folder; a text: what is missing. */
export function blobsConfig(values: Values): BlobsConfig | string | undefined {
  const { TENDON_BLOBS: to, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = values;
  if (to === undefined) return undefined;
  if (values.TENDON_DATABASE_URL) return 'TENDON_BLOBS: with TENDON_DATABASE_URL payloads are in the database; leave one of them out';
  if (!accessKeyId || !secret) return 'TENDON_BLOBS: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are needed with it';
  const region = to.region || values.AWS_REGION || values.AWS_DEFAULT_REGION || 'us-east-1';
  return { ...to, region, accessKeyId, secretAccessKey: new Secret(secret), sessionToken: token ? new Secret(token) : undefined };
}
