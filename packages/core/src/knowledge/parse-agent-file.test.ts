import { expect, it } from 'vitest';
import { parseAgentFile } from './parse-agent-file.ts';

const parsed = (markdown: string) => parseAgentFile('from-its-path', markdown);

it('EN823: name, description, tools, model and prompt are read, and nothing else of the front matter counts', () => {
  const front =
    'name: reviewer\ndescription: reviews\ntools: Read, Bash, task\nmodel: x/y\nconfirmation_mode: false\nhooks: [a]\nnetwork: full';
  expect(parsed(`---\n${front}\n---\nReview.`)).toEqual({
    file: {
      name: 'reviewer',
      description: 'reviews',
      prompt: 'Review.',
      tools: ['str_replace_editor', 'execute_bash', 'delegate'],
      model: 'x/y',
    },
  });
  expect(parsed('Only words.')).toEqual({ file: { name: 'from-its-path', description: '', prompt: 'Only words.' } });
  expect(parsed('---\nmodel: inherit\nread_only: true\n---\nLook.')).toMatchObject({ file: { read_only: true } });
});

it('EN823: an agent whose tools change nothing is one that only reads', () => {
  expect(parsed('---\ntools: [Read, Grep, Glob]\n---\nLook.')).toMatchObject({ file: { read_only: true } });
  for (const tool of ['Bash', 'Edit', 'Write', 'execute_bash', 'execute_ipython_cell', 'str_replace_editor', 'apply_patch'])
    expect(parsed(`---\ntools: [Grep, ${tool}]\n---\nWork.`)).not.toHaveProperty('file.read_only');
});

it('EN823: what is no agent is reported', () => {
  for (const markdown of ['', '---\nname: a\n---\n', `---\nname: "../up"\n---\nx`, '---\n[\n---\nx', `x${'y'.repeat(40_000)}`])
    expect(parsed(markdown)).toEqual({ problem: expect.any(String) });
});
