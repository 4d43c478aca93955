import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LlmAnswer, LlmEvent, LlmProvider, LlmToolSpec } from '../llm-provider.ts';
import { ModelTraitsBook } from '../model-traits.ts';
import { renderCall } from './render-request.ts';
import { withTextCalls } from './with-text-calls.ts';

const TOOLS: readonly LlmToolSpec[] = [
  {
    name: 'run',
    description: 'Runs.',
    parameters: { type: 'object', properties: { command: { type: 'string' }, timeout: { type: 'number' }, quiet: { type: 'boolean' } } },
  },
  {
    name: 'edit',
    description: 'Edits.',
    parameters: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' }, range: { type: 'array' } } },
  },
];
const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** A model that answers with these pieces. */
function answering(pieces: readonly string[], finishReason: LlmAnswer['finishReason'] = 'stop'): LlmProvider {
  return {
    model: 'plain/words',
    contextWindow: undefined,
    scripted: true,
    async *stream() {
      for (const text of pieces) if (text !== '') yield { type: 'delta', part: 'text', text };
      const answer = {
        id: 'a',
        model: 'plain/words',
        text: pieces.join(''),
        toolCalls: [],
        finishReason,
        usage: USAGE,
        costUsd: 0,
        latencyMs: 0,
      };
      yield { type: 'done', answer };
    },
  };
}

async function read(pieces: readonly string[], finishReason?: LlmAnswer['finishReason']) {
  const traits = new ModelTraitsBook().of({ baseUrl: '', modelId: '' });
  const provider = withTextCalls(answering(pieces, finishReason), 'text', traits);
  const events: LlmEvent[] = [];
  const request = { messages: [{ role: 'user', text: 'Go.' } as const], tools: TOOLS };
  for await (const event of provider.stream(request, { signal: new AbortController().signal })) events.push(event);
  const end = events.at(-1);
  if (end?.type !== 'done') throw new Error('no answer');
  const sent = (part: string) => events.map((event) => (event.type === 'delta' && event.part === part ? event.text : '')).join('');
  expect(sent('text')).toBe(end.answer.text);
  expect(sent('tool')).toBe(end.answer.toolCalls.map((call) => call.arguments).join(''));
  expect(events.every((event) => event.type !== 'delta' || event.text.isWellFormed())).toBe(true);
  const { text, toolCalls, finishReason: reason } = end.answer;
  return { text, reason, calls: toolCalls.map(({ name, arguments: args }) => [name, parsed(args)]) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const LS = '<function=run>\n<parameter=command>ls</parameter>\n</function>';
const ls = ['run', { command: 'ls' }];

/** What a model writes, the words that are left, and the calls. */
const UNDERSTOOD: readonly (readonly [name: string, written: string, words: string, calls: readonly unknown[]])[] = [
  ['a call', LS, '', [ls]],
  ['words before a call', `I look.\n\n${LS}\n`, 'I look.', [ls]],
  ['words before it on its line', `I look. ${LS}`, 'I look.', [ls]],
  ['words after it', `${LS}\nThat shows them.`, 'That shows them.', [ls]],
  ['several calls', `${LS}\n\n${LS}and\n${LS}`, 'and', [ls, ls, ls]],
  [
    'values of several lines',
    '<function=run>\n<parameter=command>\na\n\nb\n</parameter>\n</function>',
    '',
    [['run', { command: 'a\n\nb' }]],
  ],
  [
    'values with Windows’ line ends',
    '<function=run>\r\n<parameter=command>\r\na\r\n</parameter>\r\n</function>',
    '',
    [['run', { command: 'a' }]],
  ],
  [
    'types of the tool',
    '<function=run><parameter=timeout>1.5</parameter><parameter=quiet>True</parameter></function>',
    '',
    [['run', { timeout: 1.5, quiet: true }]],
  ],
  ['lists', '<function=edit>\n<parameter=range>[1, 2]</parameter>\n</function>', '', [['edit', { range: [1, 2] }]]],
  ['text that looks like a number', '<function=run><parameter=command>1</parameter></function>', '', [['run', { command: '1' }]]],
  ['no parameters', '<function=run></function>', '', [['run', {}]]],
  ['a tool that there is not', '<function=nothing>\n</function>', '', [['nothing', {}]]],
  ['names in quotes', '<function="run">\n<parameter name="command">ls</parameter>\n</function>', '', [ls]],
  ['no end of the call', '<function=run>\n<parameter=command>ls</parameter>', '', [ls]],
  ['half an end of the call', '<function=run>\n<parameter=command>ls</parameter>\n</function', '', [ls]],
  ['no end of a value', '<function=run>\n<parameter=command>ls\n</function>', '', [ls]],
  ['no end before the next call', `<function=run>\n<parameter=command>ls</parameter>\n${LS}`, '', [ls, ls]],
  ['a wrapped call', `<tool_call>\n${LS}\n</tool_call>`, '', [ls]],
  ['JSON in a wrapper', '<tool_call>\n{"name": "run", "arguments": {"command": "ls"}}\n</tool_call>', '', [ls]],
  ['JSON in a call', '<function=run>{"command": "ls"}</function>', '', [ls]],
  ['JSON with a tag in it', '<function=run>{"command": "echo </function>"}</function>', '', [['run', { command: 'echo </function>' }]]],
  ['a call within a value', `<function=edit>\n<parameter=text>\n${LS}\n</parameter>\n</function>`, '', [['edit', { text: LS }]]],
  [
    'a tag within a value',
    '<function=edit><parameter=text>write </parameter> at the end</parameter></function>',
    '',
    [['edit', { text: 'write </parameter> at the end' }]],
  ],
  [
    'an opening tag within a value',
    '<function=edit><parameter=text>write <parameter=name></parameter>\n<parameter=path>/a</parameter></function>',
    '',
    [['edit', { text: 'write <parameter=name>', path: '/a' }]],
  ],
  ['an invented result', `${LS}\nEXECUTION RESULT of [run]:\nfile.txt\n\n${LS}`, '', [ls]],
];

/** What is words, and no call. */
const SHOWN: readonly (readonly [name: string, written: string])[] = [
  ['a block of code', `Write it so:\n\`\`\`xml\n${LS}\n\`\`\`\nThat is all.`],
  ['a block of code that is not closed', `Write it so:\n~~~~\n${LS}\n~~~`],
  ['backticks', `Write \`${LS.replaceAll('\n', '')}\` for it.`],
  ['quotes', `It says "${LS.replaceAll('\n', '')}".`],
  ['a quoted line', `> like ${LS.replaceAll('\n', '')}`],
  ['another tool’s name amid words', 'A <function=name> tag begins it.'],
  ['a tag amid words that nothing of a call follows', 'A <function=run> tag begins it.'],
  ['a tag without a name', '<function>\n<function=>'],
  ['other tags', 'a < b, <b>bold</b>, <functional=x>, <tool_call>nothing</tool_call>'],
  ['breaks at the end', 'Done.\n\n'],
];

/** Reported back to the model, and not carried out. */
const REPORTED: readonly (readonly [name: string, written: string])[] = [
  ['a value that breaks off', '<function=run>\n<parameter=command>rm -rf /tmp/x'],
  ['words instead of parameters', '<function=run>\nls -la\n</function>'],
  ['JSON that is none', '<function=run>{"command": </function>'],
];

describe('calls written as text', () => {
  it.each(UNDERSTOOD)('LM721: %s', async (_name, written, text, calls) => {
    const expected = { text, calls, reason: 'tool_calls' };
    expect(await read([written])).toEqual(expected);
    expect(await read(written.split(''))).toEqual(expected);
  });

  it.each(SHOWN)('LM722: %s: shown, not called', async (_name, written) => {
    expect(await read([written])).toEqual({ text: written, calls: [], reason: 'stop' });
    expect(await read(written.split(''))).toEqual({ text: written, calls: [], reason: 'stop' });
  });

  it.each(REPORTED)('LM723: %s: a call without arguments that could run', async (_name, written) => {
    const { calls } = await read([written]);
    expect(calls).toEqual([['run', expect.any(String)]]);
  });

  it('LM723: of an answer cut at its length, the reason stays', async () => {
    expect(await read(['<function=run>\n<parameter=command>ls</parameter>'], 'length')).toMatchObject({ reason: 'length' });
  });

  it('LM721: whatever the pieces, the answer is the same', async () => {
    const text = fc.string({
      unit: fc.constantFrom(
        'a',
        ' ',
        '\n',
        '`',
        '<',
        '>',
        '"',
        '🌍',
        '<function=run>',
        '</function>',
        '<parameter=command>',
        '</parameter>',
        '```',
      ),
    });
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat({ max: 40 }), { maxLength: 20 }), async (written, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (written.length + 1)).toSorted((a, b) => a - b), written.length];
        const pieces = places.slice(1).map((place, index) => written.slice(places[index], place));
        const inPieces = await read(pieces);
        expect(inPieces).toEqual(await read([written]));
        expect(inPieces).toEqual(await read(written.split('')));
      }),
      { numRuns: 300 },
    );
  });

  it('LM720: a call is read as it is written for the history', async () => {
    const value = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '`', '<', '"', '\\', '🌍', '</function>', '<function=x>') });
    await fc.assert(
      fc.asyncProperty(value, value, async (path, text) => {
        const { calls } = await read([renderCall({ name: 'edit', arguments: JSON.stringify({ path, text, range: [1, 2] }) })]);
        expect(calls).toEqual([['edit', { path, text, range: [1, 2] }]]);
      }),
      { numRuns: 300 },
    );
  });
});
