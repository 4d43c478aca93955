import { describe, expect, it } from 'vitest';
import { Secret } from '@tendon/protocol/masking';
import { createLlmProvider } from '../create-llm-provider.ts';
import { bench, collect, createTestClock, failureOf, KEY, PROTOCOLS } from './subjects.ts';

const error = (message: string, type = 'error', code?: string) => ({ type: 'error', error: { message, type, ...(code && { code }) } });

/** status, body, code, retryable */
const CASES = [
  [401, error('Invalid API key', 'authentication_error'), 'LLM_AUTHENTICATION', false],
  [403, error('Not allowed for this key', 'permission_error'), 'LLM_AUTHENTICATION', false],
  [402, error('Payment required'), 'LLM_OUT_OF_CREDITS', false],
  [429, error('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'), 'LLM_OUT_OF_CREDITS', false],
  [400, error('Your credit balance is too low to access the API', 'invalid_request_error'), 'LLM_OUT_OF_CREDITS', false],
  [400, error('ExceededBudget: over budget', 'budget_exceeded'), 'LLM_OUT_OF_CREDITS', false],
  [
    400,
    error("This model's maximum context length is 8192 tokens", 'invalid_request_error', 'context_length_exceeded'),
    'LLM_CONTEXT_EXCEEDED',
    false,
  ],
  [400, error('prompt is too long: 210000 tokens > 200000 maximum', 'invalid_request_error'), 'LLM_CONTEXT_EXCEEDED', false],
  [413, error('Request exceeds the maximum size', 'request_too_large'), 'LLM_CONTEXT_EXCEEDED', false],
  [429, error('Request too large for gpt-4o on tokens per min', 'tokens', 'rate_limit_exceeded'), 'LLM_CONTEXT_EXCEEDED', false],
  [429, error('Rate limit reached', 'rate_limit_error'), 'LLM_RATE_LIMITED', true],
  [429, 'slow down', 'LLM_RATE_LIMITED', true],
  [400, error('Blocked', 'invalid_request_error', 'content_policy_violation'), 'LLM_CONTENT_POLICY', false],
  [404, error('The model `x` does not exist', 'invalid_request_error', 'model_not_found'), 'LLM_NOT_FOUND', false],
  [404, '<html>not here</html>', 'LLM_NOT_FOUND', false],
  [400, error('Bad parameter', 'invalid_request_error'), 'LLM_FAILED', false],
  [500, error('Internal error', 'server_error'), 'LLM_FAILED', true],
  [502, '<html>Bad gateway</html>', 'LLM_UNAVAILABLE', true],
  [503, {}, 'LLM_UNAVAILABLE', true],
  [529, error('Overloaded', 'overloaded_error'), 'LLM_UNAVAILABLE', true],
] as const;

describe.each(PROTOCOLS)('failures over $name', (subject) => {
  it.each(CASES)('LM20, LM21: HTTP %i %j is %s, retryable: %s', async (status, body, code, retryable) => {
    await using at = await bench(subject, [{ status, body }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ error: { code }, retryable });
    expect(at.endpoint.requests).toHaveLength(1);
  });

  it('LM20: the words of the provider are in the message, cut to a line', async () => {
    await using at = await bench(subject, [{ status: 400, body: error(`No such parameter\n${'x'.repeat(5_000)}`) }]);
    const { message } = failureOf(await collect(at.provider)).error;
    expect(message).toContain('HTTP 400, No such parameter xxx');
    expect(message.length).toBeLessThan(450);
  });

  it('LM22: a key that the provider repeats is hidden', async () => {
    await using at = await bench(subject, [
      { status: 401, body: error(`Incorrect API key provided: ${KEY}. Or sk-proj-abcd****wxyz, Bearer abc.def`) },
    ]);
    const { message } = failureOf(await collect(at.provider)).error;
    expect(message).not.toMatch(/0123456789|abcd|wxyz|abc\.def/);
    expect(message).toContain('Incorrect API key provided: ***');
  });

  it('LM120: a web page in place of an answer fails at once, with the address to check', async () => {
    await using at = await bench(subject, [
      { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>Hi</html>' },
    ]);
    const failure = failureOf(await collect(at.provider));
    expect(failure).toMatchObject({ retryable: false, error: { code: 'LLM_FAILED' } });
    expect(failure.error.message).toMatch(/answered with a web page\. Check LLM_BASE_URL/);
    expect(at.endpoint.requests).toHaveLength(1);
  });

  it('LM23: a redirect is not followed', async () => {
    await using other = await bench(subject, [{ text: ['stolen'] }]);
    await using at = await bench(subject, [{ status: 307, headers: { location: other.endpoint.url } }]);
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: false, error: { code: 'LLM_UNAVAILABLE' } });
    expect(other.endpoint.requests).toHaveLength(0);
  });

  it('LM31: what Retry-After says is passed on', async () => {
    await using at = await bench(subject, [{ status: 429, headers: { 'retry-after': '7' }, body: error('Rate limit reached') }]);
    expect(failureOf(await collect(at.provider)).retryAfterMs).toBe(7_000);
  });

  it('LM20: an endpoint that is not there is unavailable', async () => {
    const at = await bench(subject, []);
    await at[Symbol.asyncDispose]();
    expect(failureOf(await collect(at.provider))).toMatchObject({ retryable: true, error: { code: 'LLM_UNAVAILABLE' } });
  });
});

const noFetch: typeof fetch = () => Promise.reject(new Error('a request was made'));

describe('failures without a request', () => {
  const clock = createTestClock();

  it.each(['openai/gpt-4o', 'gpt-4o', 'anthropic/claude-sonnet-4-20250514', 'openhands/claude-sonnet-4-20250514'])(
    'LM24: %s without a key',
    async (model) => {
      const failure = failureOf(await collect(createLlmProvider({ model, clock, fetch: noFetch })));
      expect(failure).toMatchObject({ retryable: false, error: { code: 'LLM_AUTHENTICATION' } });
      expect(failure.error.message).toContain('LLM_API_KEY');
    },
  );

  it.each([
    ['who/knows', undefined],
    ['mystery', undefined],
    ['', undefined],
    ['openai/', undefined],
    ['litellm_proxy/x', undefined],
    ['openai/x', 'ftp://example.org'],
    ['openai/x', 'not a url'],
  ])('LM20: the model %j at %j is not found', async (model, baseUrl) => {
    const provider = createLlmProvider({ model, baseUrl, apiKey: new Secret(KEY), clock, fetch: noFetch });
    expect(failureOf(await collect(provider))).toMatchObject({ retryable: false, error: { code: 'LLM_NOT_FOUND' } });
  });

  it('LM62: a script file named by anybody but the operator is not read', async () => {
    const provider = createLlmProvider({ model: 'scripted//etc/passwd', clock });
    expect(failureOf(await collect(provider))).toMatchObject({ error: { code: 'LLM_NOT_FOUND' } });
  });
});
