import { expect, it } from 'vitest';
import { codeActAgent } from './code-act-agent.ts';
import { agentNames, findAgent } from './registry.ts';

const MAX_FIRST_REQUEST_BYTES = 12 * 1024;

it('EN60: the first request, prompt and tools, is at most 12 KB', () => {
  const specs = codeActAgent.tools.map(({ spec }) => ({ type: 'function', function: spec }));
  const request = { messages: [{ role: 'system', content: codeActAgent.systemPrompt({ workspace: '/workspace' }) }], tools: specs };
  expect(Buffer.byteLength(JSON.stringify(request))).toBeLessThan(MAX_FIRST_REQUEST_BYTES);
});

it('EN61: every tool is offered as an object of typed, described parameters', () => {
  for (const { spec } of codeActAgent.tools) {
    expect(spec.parameters).toMatchObject({ type: 'object' });
    for (const parameter of Object.values(spec.parameters.properties as Record<string, object>)) expect(parameter).toHaveProperty('type');
  }
});

it('EN62: an unknown agent is answered by the default one, and said so', () => {
  expect(agentNames()).toEqual(['CodeActAgent']);
  expect(findAgent('CodeActAgent')).toEqual({ agent: codeActAgent });
  expect(findAgent('toString')).toMatchObject({ agent: codeActAgent, notice: expect.stringContaining('no agent "toString"') });
});
