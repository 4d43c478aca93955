import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseMicroagent } from './parse-microagent.ts';

/** The shape of front matter as it is found in the wild. */
const WIRE_GUIDE = `---
name: wire
type: knowledge
agent: CodeActAgent
version: 1.0.0
triggers:
- wire-guide
---

# How frames look

Every frame is one line.
`;

it('EN120: name and trigger words come from the front matter, the rest is the content', () => {
  expect(parseMicroagent('file', WIRE_GUIDE)).toEqual({
    microagent: {
      name: 'wire',
      type: 'knowledge',
      content: '# How frames look\n\nEvery frame is one line.',
      triggers: ['wire-guide'],
      inputs: [],
      tools: [],
      agent: 'CodeActAgent',
      version: '1.0.0',
    },
    description: '',
    problem: undefined,
  });
});

it.each(['---\n: [\n---\ntext', '---\n- a\n---\ntext', '---\na: &a [x]\nb: [*a, *a]\n---\ntext'])(
  'EN121: %j has front matter that is reported as wrong, and its text counts',
  (markdown) => {
    const { microagent, problem } = parseMicroagent('x', markdown);
    expect(microagent).toMatchObject({ name: 'x', type: 'repo', content: 'text', triggers: [] });
    expect(problem).toContain('front matter');
  },
);

it('EN311: front matter that is long or has many indicators is not given to the parser, and its text counts', () => {
  const list = (count: number): string => `---\nname: a\ninputs: [${'x,'.repeat(count - 4)}]\n---\ntext`;
  expect(parseMicroagent('x', list(256))).toMatchObject({ microagent: { name: 'a', content: 'text' }, problem: undefined });
  expect(parseMicroagent('x', list(257))).toMatchObject({
    microagent: { name: 'x', content: 'text' },
    problem: expect.stringContaining('256'),
  });
  const long = (length: number): string => `---\nname: ${'a'.repeat(length - 6)}\n---\ntext`;
  expect(parseMicroagent('x', long(4_096)).problem).toBeUndefined();
  expect(parseMicroagent('x', long(4_097))).toMatchObject({
    microagent: { content: 'text' },
    problem: expect.stringContaining('longer than'),
  });
});

it('EN804: the type decides how a text is brought, before its trigger words do', () => {
  const parsed = (front: string) => {
    const { type, triggers } = parseMicroagent('db', `---\n${front}\n---\ntext`).microagent;
    return [type, triggers];
  };
  expect(parsed('type: repo\ntriggers: [sql]')).toEqual(['repo', []]);
  expect(parsed('type: knowledge')).toEqual(['knowledge', ['db']]);
  expect(parsed('type: task\ntriggers: [migrate]')).toEqual(['knowledge', ['/db', 'migrate']]);
  expect(parsed('type: anything')).toEqual(['repo', []]);
});

it('EN311: the first 64 trigger words count', () => {
  const triggers = Array.from({ length: 100 }, (_, n) => `word${n}`);
  const { microagent } = parseMicroagent('x', `---\ntriggers: [${triggers.join(', ')}]\n---\ntext`);
  expect(microagent.triggers).toEqual(triggers.slice(0, 64));
});

it('EN121: servers that are not what they should be are no tools', () => {
  const markdown = '---\nmcp_tools:\n  stdio_servers: [null, 1, {name: fetch}, {name: 2}]\n---\ntext';
  expect(parseMicroagent('x', markdown).microagent.tools).toEqual(['fetch']);
});

it('EN121: any text is a microagent, and a text without front matter is its content', () => {
  const yaml = fc.string({
    unit: fc.constantFrom('a', ':', ' ', '\n', '-', '[', ']', '{', '}', '&', '*', '!', '"', "'", '|', '\t', '\u0000'),
  });
  fc.assert(
    fc.property(yaml, fc.string(), (front, text) => {
      const { microagent } = parseMicroagent('x', `---\n${front}\n---\n${text}`);
      expect(microagent.type).toBe(microagent.triggers.length > 0 ? 'knowledge' : 'repo');
      expect(microagent.name).not.toBe('');
    }),
  );
  fc.assert(
    fc.property(
      fc.string().filter((text) => !/^\uFEFF?---/.test(text)),
      (text) => parseMicroagent('x', text).microagent.content === text.trim(),
    ),
  );
});
