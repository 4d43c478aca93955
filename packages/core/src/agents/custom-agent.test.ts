import { expect, it } from 'vitest';
import { codeActAgent } from './code-act-agent.ts';
import { customAgent, limitTools } from './custom-agent.ts';

it('EN823: tools that an agent has not are not given to it by a file', () => {
  const { tools } = limitTools(customAgent({ name: 'a', description: '', prompt: 'x' }), ['grep', 'apply_patch', 'root_shell']);
  expect(tools.map(({ spec }) => spec.name)).toEqual(['grep', 'finish']);
  expect(limitTools(codeActAgent, undefined)).toBe(codeActAgent);
});
