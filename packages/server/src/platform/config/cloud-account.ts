import { readFileSync, statSync } from 'node:fs';
import { splitModelName } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';

const text = z.string().optional();

/** As the tools of the clouds, and litellm, name them. */
export const CloudEnvironment = z.object({
  AWS_BEARER_TOKEN_BEDROCK: text,
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
  AWS_SESSION_TOKEN: text,
  AWS_REGION: text,
  AWS_DEFAULT_REGION: text,
  GOOGLE_APPLICATION_CREDENTIALS: text,
  VERTEXAI_PROJECT: text,
  VERTEXAI_LOCATION: text,
});

type Values = z.output<typeof CloudEnvironment>;

/** A model of a cloud that the operator names without a key or an address has those of the operator's account there. */
export function withCloudAccount<R extends Account & { readonly model: string }>(reference: R, values: Values): R {
  const { apiKey, baseUrl } = accountOf(splitModelName(reference.model).vendor, values);
  return { ...reference, apiKey: reference.apiKey ?? apiKey, baseUrl: reference.baseUrl ?? baseUrl };
}

interface Account {
  readonly apiKey?: Secret | undefined;
  readonly baseUrl?: string | undefined;
}

function accountOf(vendor: string | undefined, values: Values): Account {
  if (vendor === 'bedrock') return awsAccount(values);
  if (vendor === 'vertex_ai') return googleAccount(values);
  return { apiKey: undefined, baseUrl: undefined };
}

function awsAccount(values: Values): Account {
  const region = values.AWS_REGION ?? values.AWS_DEFAULT_REGION;
  const parts = [values.AWS_ACCESS_KEY_ID, values.AWS_SECRET_ACCESS_KEY];
  const key = parts.every(Boolean) ? [...parts, values.AWS_SESSION_TOKEN].filter(Boolean).join(':') : undefined;
  const given = values.AWS_BEARER_TOKEN_BEDROCK ?? key;
  const suffix = region?.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return { apiKey: given ? new Secret(given) : undefined, baseUrl: region && `https://bedrock-runtime.${region}.${suffix}` };
}

function googleAccount({ GOOGLE_APPLICATION_CREDENTIALS: path, VERTEXAI_PROJECT: project, VERTEXAI_LOCATION: location }: Values): Account {
  const key = path === undefined ? undefined : keyIn(path);
  if (project === undefined && location === undefined) return { apiKey: key, baseUrl: undefined };
  const host = `https://${location && location !== 'global' ? `${location}-` : ''}aiplatform.googleapis.com`;
  const place = project && `/v1/projects/${encodeURIComponent(project)}/locations/${location ?? 'global'}`;
  return { apiKey: key, baseUrl: host + (place ?? '') };
}

const MAX_KEY_BYTES = 64 * 1024;

/** Nothing where there is no such file: it may be there for other programs, and the first request says that no key is set. */
function keyIn(path: string): Secret | undefined {
  try {
    return statSync(path).size > MAX_KEY_BYTES ? undefined : new Secret(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
