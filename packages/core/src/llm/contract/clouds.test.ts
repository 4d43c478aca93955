import { generateKeyPairSync, verify } from 'node:crypto';
import { Secret } from '@tendon/protocol/masking';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { createLlmProvider } from '../create-llm-provider.ts';
import type { LlmProvider } from '../llm-provider.ts';
import { startModelEndpoint, type EndpointTurn } from './model-endpoint.ts';
import { answerOf, collect, createTestClock, failureOf } from './subjects.ts';

const tokenOfGoogle = () => Response.json({ access_token: 'TOKEN', expires_in: 3600, token_type: 'Bearer' });

/** Every request by the address that it was meant for; models answer, and so does what gives tokens. */
async function cloud(
  protocol: 'bedrock' | 'google' | 'anthropic',
  turns: readonly EndpointTurn[] = [{ text: ['ok'] }],
  token = tokenOfGoogle,
) {
  const endpoint = await startModelEndpoint(protocol, turns);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const asked: { readonly url: string; readonly headers: Headers; readonly body: string }[] = [];
  const send: typeof fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    asked.push({
      url,
      headers: new Headers(init?.headers),
      body: init?.body instanceof Uint8Array ? Buffer.from(init.body).toString() : String(init?.body ?? ''),
    });
    if (url === 'https://oauth2.googleapis.com/token') return token();
    const { pathname, search } = new URL(url);
    return fetch(new URL(endpoint.url).origin + pathname + search, init);
  };
  const provider = (model: string, key: string, baseUrl?: string): LlmProvider =>
    createLlmProvider({ model, apiKey: new Secret(key), baseUrl, clock: createTestClock(), fetch: send });
  return { asked, provider };
}

afterEach(() => vi.unstubAllEnvs());

const CLAUDE = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const OREGON = 'https://bedrock-runtime.us-west-2.amazonaws.com';
const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

describe('Bedrock', () => {
  it('LM940: a key of its own goes as a bearer, and the marks of the cache are where Claude reads them', async () => {
    const { asked, provider } = await cloud('bedrock');
    expect(answerOf(await collect(provider(CLAUDE, 'bedrock-api-key-0123', OREGON))).text).toBe('ok');
    expect(asked[0]!.url).toBe(`${OREGON}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream`);
    expect(asked[0]!.headers.get('authorization')).toBe('Bearer bedrock-api-key-0123');
    const { system, inferenceConfig } = JSON.parse(asked[0]!.body) as {
      readonly system: readonly object[];
      readonly inferenceConfig: object;
    };
    expect(system.at(-1)).toMatchObject({ cachePoint: { type: 'default' } });
    expect(inferenceConfig).toMatchObject({ maxTokens: 32_000 });
  });

  it('LM940: a model that has no cache is sent no marks', async () => {
    const { asked, provider } = await cloud('bedrock');
    await collect(provider('bedrock/meta.llama3-3-70b-instruct-v1:0', 'bedrock-api-key-0123', OREGON));
    expect(asked[0]!.body).not.toContain('cachePoint');
  });

  it('LM941: an account signs each request for its region, and its secret goes nowhere', async () => {
    const { asked, provider } = await cloud('bedrock');
    // Of another account: what a client gives must not be mixed with what the server has.
    vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', 'the-servers-own');
    vi.stubEnv('AWS_SESSION_TOKEN', 'the-servers-session');
    const model = provider(CLAUDE, `AKIAIOSFODNN7EXAMPLE:${AWS_SECRET}`, OREGON);
    const messages = Array.from(
      { length: 200 },
      (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', text: `message ${at}` }) as const,
    );
    for (let steps = 0; steps < 3; steps++) expect(answerOf(await collect(model, { messages, tools: [] })).text).toBe('ok');
    for (const { headers, body } of asked) {
      expect(headers.get('authorization')).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/us-west-2\/bedrock\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/,
      );
      expect(headers.get('x-amz-security-token')).toBeNull();
      expect(JSON.stringify([...headers]) + body).not.toContain(AWS_SECRET);
      expect(body).toContain('message 0');
    }
  });

  it('LM941: a session’s token goes with it', async () => {
    const { asked, provider } = await cloud('bedrock');
    const session = 'IQoJb3JpZ2luX2VjEXAMPLE//token==';
    await collect(
      provider(CLAUDE, `ASIAIOSFODNN7EXAMPLE:${AWS_SECRET}:${session}`, 'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com'),
    );
    expect(asked[0]!.headers.get('x-amz-security-token')).toBe(session);
    expect(asked[0]!.headers.get('authorization')).toContain('/us-gov-west-1/bedrock/');
  });
});

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const SERVICE = {
  type: 'service_account',
  project_id: 'my-project',
  client_email: 'agent@my-project.iam.gserviceaccount.com',
  private_key: privateKey,
};
const account = (fields: object = {}): string => JSON.stringify({ ...SERVICE, ...fields });

describe('Vertex', () => {
  it('LM942: a service account is exchanged for a token at Google, once, and only the token goes to the model', async () => {
    const { asked, provider } = await cloud('google');
    vi.stubEnv('GOOGLE_VERTEX_API_KEY', 'the-servers-own');
    const model = provider('vertex_ai/gemini-2.5-pro', account());
    for (let steps = 0; steps < 2; steps++) expect(answerOf(await collect(model)).text).toBe('ok');
    const place = 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google/models/gemini-2.5-pro';
    expect(asked.map(({ url }) => url.split(':stream')[0])).toEqual(['https://oauth2.googleapis.com/token', place, place]);
    const [head, claims, signature] = new URLSearchParams(asked[0]!.body).get('assertion')!.split('.');
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature!, 'base64url'))).toBe(true);
    expect(asked[1]!.headers.get('authorization')).toBe('Bearer TOKEN');
    expect(asked[1]!.headers.get('x-goog-api-key')).toBeNull();
  });

  it('LM942: Claude is asked in the location of the address, and signs its thoughts', async () => {
    const { asked, provider } = await cloud('anthropic', [{ reasoning: ['hm'], signature: 'SIGNED', text: ['ok'] }]);
    const model = provider('vertex_ai/claude-sonnet-4-5@20250929', account(), 'https://europe-west1-aiplatform.googleapis.com');
    expect(answerOf(await collect(model)).reasoning).toMatchObject([{ text: 'hm', metadata: { anthropic: { signature: 'SIGNED' } } }]);
    expect(asked[1]!.url).toMatch(
      /^https:\/\/europe-west1-aiplatform\.googleapis\.com\/v1\/projects\/my-project\/locations\/europe-west1\/publishers\/anthropic\/models\/claude-sonnet-4-5@20250929:streamRawPredict/,
    );
    expect(JSON.parse(asked[1]!.body)).toMatchObject({ anthropic_version: expect.any(String) });
  });

  it('LM942: so is the login of a person', async () => {
    const { asked, provider } = await cloud('google');
    const login = { type: 'authorized_user', client_id: 'id', client_secret: 'hidden', refresh_token: 'refresh', quota_project_id: 'mine' };
    expect(answerOf(await collect(provider('vertex_ai/gemini-2.5-pro', JSON.stringify(login)))).text).toBe('ok');
    expect(asked[1]!.url).toContain('/projects/mine/locations/global/');
  });

  it('LM942: a key of the express mode goes as it is', async () => {
    const { asked, provider } = await cloud('google');
    await collect(provider('vertex_ai/gemini-2.5-pro', 'AQ.express-key'));
    expect(asked).toHaveLength(1);
    expect(asked[0]!.url).toMatch(/^https:\/\/aiplatform\.googleapis\.com\/v1\/publishers\/google\/models\/gemini-2\.5-pro:/);
    expect(asked[0]!.headers.get('x-goog-api-key')).toBe('AQ.express-key');
  });

  it.each([
    ['names a program', { type: 'external_account', credential_source: { executable: { command: 'touch /tmp/owned' } } }],
    ['names a file', { type: 'external_account', credential_source: { file: '/etc/passwd' } }],
    ['names another address', { type: 'impersonated_service_account', service_account_impersonation_url: 'http://127.0.0.1/' }],
    ['is half a key', { private_key: '' }],
  ])('LM943: an account that %s is refused before anything is asked', async (_, fields) => {
    const { asked, provider } = await cloud('google');
    const failure = failureOf(await collect(provider('vertex_ai/gemini-2.5-pro', account(fields))));
    expect(failure).toMatchObject({ retryable: false, error: { code: 'LLM_AUTHENTICATION' } });
    expect(failure.error.message).toMatch(/service account/);
    expect(asked).toEqual([]);
  });

  it('LM943: an account without a project says where to give one', async () => {
    const { provider } = await cloud('google');
    const failure = failureOf(await collect(provider('vertex_ai/gemini-2.5-pro', account({ project_id: undefined }))));
    expect(failure).toMatchObject({ retryable: false });
    expect(failure.error.message).toContain('/v1/projects/<project>/locations/<location>');
  });

  it('LM943: a token that Google refuses is a matter of the key', async () => {
    const { provider } = await cloud('google');
    const failure = failureOf(await collect(provider('vertex_ai/gemini-2.5-pro', account({ private_key: 'no key at all' }))));
    expect(failure.error.message).not.toContain('no key at all');
    expect(failure.retryable).toBe(false);
  });

  itInFull('LM943: where Google answers too many requests, the key may be right', async () => {
    const { provider } = await cloud('google', [{ text: ['ok'] }], () => new Response('{"error":"slow down"}', { status: 429 }));
    const failure = failureOf(await collect(provider('vertex_ai/gemini-2.5-pro', account())));
    expect(failure.retryable).toBe(true);
  });
});

describe('an account of a cloud', () => {
  const AWS = `AKIAIOSFODNN7EXAMPLE:${AWS_SECRET}`;
  it.each([
    ['AWS, at a gateway', CLAUDE, AWS, 'https://gateway.example/v1'],
    ['AWS, at another vendor', 'openai/gpt-4o', AWS, undefined],
    ['AWS, at Google', 'vertex_ai/gemini-2.5-pro', AWS, undefined],
    ['AWS, with a space in it', CLAUDE, AWS.replace(':', ': '), OREGON],
    ['AWS, with half a secret', CLAUDE, 'AKIAIOSFODNN7EXAMPLE:wJalrXUtn', OREGON],
    ['Google, at a gateway', 'vertex_ai/gemini-2.5-pro', account(), 'https://gateway.example/v1'],
    ['Google, at another vendor', 'anthropic/claude-sonnet-4-5', JSON.stringify(SERVICE, undefined, 2), undefined],
    ['Google, at AWS', CLAUDE, account(), OREGON],
  ])('LM941: that of %s, is refused before anything is asked', async (_, model, key, baseUrl) => {
    const { asked, provider } = await cloud('bedrock');
    const failure = failureOf(await collect(provider(model, key, baseUrl)));
    expect(asked).toEqual([]);
    expect(failure).toMatchObject({ retryable: false, error: { code: 'LLM_AUTHENTICATION' } });
    expect(failure.error.message).toMatch(/an account of (AWS|Google)/);
    expect(failure.error.message).not.toContain('wJalr');
  });
});
