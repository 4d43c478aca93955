/**
 * Models that an account of a cloud gives: Bedrock's by an access key of AWS, Vertex' by an account of Google. Settings hold a key as one
 * text, so such an account is one text too. Owns how that text is read and which package asks with it; does not own the address.
 *
 * Invariants
 * CM1  A key makes this process read no file, no variable of the environment and no other address: a client may have written it.
 * CM2  The secret part of an account leaves this process in no request to a model: it signs one, or what Google gives for it is sent. At an
 *      address that can do neither, and where the text of an account is not whole, nothing is asked.
 */
import type { AuthClient } from 'google-auth-library';
import type { Secret } from '@tendon/protocol/masking';
import type { ModelRoute } from './model-name.ts';
import type { LoadModel } from './request-prefix.ts';

interface AwsAccount {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** What is read of the JSON that Google hands out: nothing that names files or addresses. */
interface GoogleAccount {
  readonly project: string | undefined;
  readonly member:
    | { readonly type: 'service_account'; readonly email: string; readonly key: string }
    | { readonly type: 'authorized_user'; readonly clientId: string; readonly clientSecret: string; readonly refreshToken: string };
}

/** A key that no request can be made with; the message says why, without the key. */
export class UnusableKey extends Error {}

const OF_AWS = /^A[KS]IA[A-Z0-9]{12,28}:/;

/** CM2: why nothing can be asked with this key there; every other API would be sent it as it is. */
export function unusable({ protocol }: ModelRoute, key: Secret | undefined): string | undefined {
  const text = key?.reveal().trim() ?? '';
  if (OF_AWS.test(text)) {
    if (protocol !== 'bedrock') return 'the key is an account of AWS: it is used only at https://bedrock-runtime.<region>.amazonaws.com';
    if (!awsAccount(key)) return 'the key begins as an account of AWS, which is ACCESS_KEY_ID:SECRET_ACCESS_KEY or that and :SESSION_TOKEN';
  }
  if (text.startsWith('{') && protocol !== 'vertex')
    return 'the key is JSON, as an account of Google: it is used only at https://<location>-aiplatform.googleapis.com';
  return undefined;
}

/** The packages read the environment for a setting that is not given. This one is given, and counts as none. */
const NONE_GIVEN = ' ';

/** The Converse API, by a key of Bedrock's own or an account of AWS: `ACCESS_KEY_ID:SECRET_ACCESS_KEY` with `:SESSION_TOKEN` if there is one. */
export function loadBedrock({ modelId, baseUrl: baseURL }: ModelRoute, key: Secret | undefined): LoadModel {
  const account = awsAccount(key);
  const apiKey = account ? NONE_GIVEN : key?.reveal() || 'none';
  return async (fetch) => {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    return createAmazonBedrock({ baseURL, region: regionOf(baseURL), apiKey, fetch, ...account })(modelId);
  };
}

/** A request that is signed must be handed over whole: what is put into it later breaks the signature. */
export function isSigned({ protocol }: ModelRoute, key: Secret | undefined): boolean {
  return protocol === 'bedrock' && awsAccount(key) !== undefined;
}

/** By a key of the express mode, or the JSON of a service account or of `gcloud auth application-default login`. `send` asks for its tokens. */
export function loadVertex({ modelId, baseUrl }: ModelRoute, key: Secret | undefined, send: typeof fetch): LoadModel {
  let client: Promise<AuthClient> | undefined;
  return async (fetch) => {
    const account = googleAccount(key);
    if (!account) {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle({ baseURL: `${new URL(baseUrl).origin}/v1/publishers/google`, apiKey: key?.reveal() ?? '', fetch })(modelId);
    }
    const place = placeOf(baseUrl, account);
    const googleAuthOptions = { authClient: await (client ??= clientOf(account, send)) };
    if (modelId.startsWith('claude-')) {
      const { createGoogleVertexAnthropic } = await import('@ai-sdk/google-vertex/anthropic');
      return createGoogleVertexAnthropic({ baseURL: `${place}/publishers/anthropic/models`, googleAuthOptions, fetch })(modelId);
    }
    const { createGoogleVertex } = await import('@ai-sdk/google-vertex');
    return createGoogleVertex({ baseURL: `${place}/publishers/google`, apiKey: '', googleAuthOptions, fetch })(modelId);
  };
}

/** It keeps the token that it was given until that has expired. */
async function clientOf({ member }: GoogleAccount, send: typeof fetch): Promise<AuthClient> {
  const { JWT, UserRefreshClient } = await import('google-auth-library');
  const transporterOptions = { fetchImplementation: send };
  const client =
    member.type === 'authorized_user'
      ? new UserRefreshClient({ ...member, transporterOptions })
      : new JWT({ email: member.email, key: member.key, scopes: 'https://www.googleapis.com/auth/cloud-platform', transporterOptions });
  const ask = client.getAccessToken.bind(client);
  return Object.assign(client, { getAccessToken: () => ask().catch(refused) });
}

/** Of a key that cannot sign, or that Google does not take. Where Google was not reached, the key may be right. */
function refused(cause: Error & { readonly code?: unknown; readonly response?: { readonly status: number } }): never {
  const status = cause.response?.status ?? 0;
  if (status >= 400 && status < 500 && status !== 408 && status !== 429)
    throw new UnusableKey(`Google does not take the account: ${cause.message}`);
  if (String(cause.code).startsWith('ERR_OSSL')) throw new UnusableKey('the private_key of the service account is none');
  throw cause;
}

const AWS_ACCOUNT = /^(A[KS]IA[A-Z0-9]{12,28}):([\w/+=]{16,128})(?::([\w/+=]{16,4096}))?$/;

function awsAccount(key: Secret | undefined): AwsAccount | undefined {
  const [, accessKeyId, secretAccessKey, sessionToken] = AWS_ACCOUNT.exec(key?.reveal().trim() ?? '') ?? [];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

/** `https://bedrock-runtime.eu-west-1.amazonaws.com`, its FIPS and VPC endpoints too; another host is signed for as if it were there. */
function regionOf(baseUrl: string): string {
  return /\bbedrock-runtime(?:-fips)?\.([a-z]{2,}(?:-[a-z]+)+-\d)\./.exec(new URL(baseUrl).hostname)?.[1] ?? 'us-east-1';
}

function googleAccount(key: Secret | undefined): GoogleAccount | undefined {
  const text = key?.reveal().trim() ?? '';
  // Keys of the express mode are one word.
  if (!text.startsWith('{')) return undefined;
  const fields = fieldsOf(text);
  const project = fields('project_id') ?? fields('quota_project_id');
  const [email, privateKey] = [fields('client_email'), fields('private_key')];
  if (fields('type') === 'service_account' && email && privateKey)
    return { project, member: { type: 'service_account', email, key: privateKey } };
  const [clientId, clientSecret, refreshToken] = [fields('client_id'), fields('client_secret'), fields('refresh_token')];
  if (fields('type') === 'authorized_user' && clientId && clientSecret && refreshToken)
    return { project, member: { type: 'authorized_user', clientId, clientSecret, refreshToken } };
  throw new UnusableKey(
    'the key is JSON, but neither that of a service account with its private_key nor that of a login with its refresh_token',
  );
}

function fieldsOf(text: string): (name: string) => string | undefined {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return (name) => (typeof value[name] === 'string' && value[name] !== '' ? value[name] : undefined);
  } catch {
    return () => undefined;
  }
}

/** `…/projects/<project>/locations/<location>`: of the address itself, else the host's location and the account's project. */
function placeOf(baseUrl: string, { project }: GoogleAccount): string {
  const { origin, hostname, pathname } = new URL(baseUrl);
  const [given] = /^\/v1(?:beta1)?\/projects\/[^/]+\/locations\/[^/]+/.exec(pathname) ?? [];
  if (given) return origin + given;
  if (!project)
    throw new UnusableKey(
      'the key names no project; give it in the address: https://<location>-aiplatform.googleapis.com/v1/projects/<project>/locations/<location>',
    );
  const location = /^([a-z0-9-]+)-aiplatform\./.exec(hostname)?.[1] ?? /^aiplatform\.([a-z]+)\.rep\./.exec(hostname)?.[1] ?? 'global';
  return `${origin}/v1/projects/${encodeURIComponent(project)}/locations/${location}`;
}
