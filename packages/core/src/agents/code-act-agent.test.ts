import { expect, it } from 'vitest';
import { codeActAgent, withOptionalTools, withoutBrowsing } from './code-act-agent.ts';
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

it('EN62: an unknown agent is replaced by the default one, and that is reported', () => {
  expect(agentNames()).toEqual(['CodeActAgent', 'ExploreAgent', 'PlanAgent']);
  expect(findAgent('CodeActAgent')).toBe(codeActAgent);
  expect(findAgent('toString')).toEqual({ ...codeActAgent, notice: expect.stringContaining('no agent "toString"') });
});

it('RT171: without browsing the tools of the browser are not offered', () => {
  const names = (agent: typeof codeActAgent): readonly string[] => agent.tools.map(({ spec }) => spec.name);
  expect(names(codeActAgent)).toEqual(expect.arrayContaining(['browser', 'web_read']));
  expect(names(withoutBrowsing(codeActAgent))).toEqual(names(codeActAgent).filter((name) => name !== 'browser' && name !== 'web_read'));
});

it('EN762: of the optional tools those that were chosen are offered, and no other', () => {
  const names = (agent: typeof codeActAgent): readonly string[] => agent.tools.map(({ spec }) => spec.name);
  const optional = ['task_tracker', 'ask_user', 'grep', 'glob', 'recall', 'note'];
  expect(names(codeActAgent)).toEqual(expect.arrayContaining(optional));
  expect(names(withOptionalTools(codeActAgent, []))).toEqual(names(codeActAgent).filter((name) => !optional.includes(name)));
  expect(names(withOptionalTools(codeActAgent, ['glob'])).filter((name) => optional.includes(name))).toEqual(['glob']);
});
