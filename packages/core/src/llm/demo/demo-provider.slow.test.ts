import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, asyncProperty, constantFrom, oneof, string } from 'fast-check';
import { runs } from '@tendon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerOf, collect } from '../contract/subjects.ts';
import type { LlmMessage, LlmRequest, LlmToolCall } from '../llm-provider.ts';
import { createDemoProvider, DEMO_EXAMPLES } from './demo-provider.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tendon-demo-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const TOOLS = ['execute_bash', 'str_replace_editor', 'finish'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'object', properties: name === 'finish' ? { message: {}, task_completed: {} } : {} },
}));

/** Carries the calls out in `folder`, answering as the agent's tools do. */
function perform(call: LlmToolCall): string {
  const args = JSON.parse(call.arguments.replaceAll('/workspace', folder)) as Record<string, string>;
  if (call.name === 'execute_bash') {
    const { stdout, stderr, status } = spawnSync('bash', ['-c', args.command!], { cwd: folder, encoding: 'utf8' });
    return `${stdout}${stderr}\n[Current working directory: /workspace]\n[Command finished with exit code ${status}]`;
  }
  const path = args.path!;
  if (args.command === 'view') return existsSync(path) ? readFileSync(path, 'utf8') : `ERROR: ${path} does not exist`;
  if (args.command === 'create' && existsSync(path)) return `ERROR: File already exists at: ${path}`;
  if (args.command === 'str_replace' && !existsSync(path)) return `ERROR: ${path} does not exist`;
  mkdirSync(dirname(path), { recursive: true });
  const before = args.command === 'create' ? '' : readFileSync(path, 'utf8');
  if (args.command === 'str_replace' && before.split(args.old_str!).length !== 2) return 'ERROR: the text is not there exactly once';
  writeFileSync(path, args.command === 'create' ? args.file_text! : before.split(args.old_str!).join(args.new_str!));
  return `Edited ${path}`;
}

interface Outcome {
  readonly texts: readonly string[];
  readonly calls: readonly LlmToolCall[];
  readonly finish: { readonly message: string; readonly task_completed: string } | undefined;
}

/** The demonstration's whole turn, as the loop would run it. */
async function ask(task: string, tools: LlmRequest['tools'] = TOOLS): Promise<Outcome> {
  const messages: LlmMessage[] = [{ role: 'user', text: task }];
  const texts: string[] = [];
  const calls: LlmToolCall[] = [];
  while (calls.length < 10) {
    const { text, toolCalls } = answerOf(await collect(createDemoProvider(), { messages, tools }));
    texts.push(text);
    messages.push({ role: 'assistant', text, toolCalls });
    const [call] = toolCalls;
    if (!call) return { texts, calls, finish: undefined };
    if (call.name === 'finish') return { texts, calls, finish: JSON.parse(call.arguments) as Outcome['finish'] };
    calls.push(call);
    messages.push({ role: 'tool', toolCallId: call.id, toolName: call.name, text: perform(call) });
  }
  throw new Error('it does not end');
}

describe('the founding example', () => {
  it('LM70, LM72: writes a bash script that prints hello, runs it and says what it is', async () => {
    const { texts, calls, finish } = await ask('write a bash script that prints hello');
    expect(calls.map(({ name }) => name)).toEqual(['str_replace_editor', 'execute_bash']);
    expect(readFileSync(join(folder, 'hello.sh'), 'utf8')).toBe("#!/usr/bin/env bash\nprintf '%s\\n' 'hello'\n");
    expect(finish).toMatchObject({ task_completed: 'true' });
    expect(finish?.message).toContain('hello');
    for (const words of [texts[0], finish?.message]) {
      expect(words).toMatch(/scripted demonstration/);
      expect(words).toMatch(/LLM_MODEL and LLM_API_KEY/);
    }
  });

  it('LM73: a file that is already there is left alone', async () => {
    writeFileSync(join(folder, 'hello.sh'), 'mine');
    const { finish } = await ask('write a bash script that prints hello');
    expect(readFileSync(join(folder, 'hello.sh'), 'utf8')).toBe('mine');
    expect(existsSync(join(folder, 'hello-2.sh'))).toBe(true);
    expect(finish?.message).toContain('hello-2.sh');
  });
});

describe('what it writes', () => {
  const text = string({
    unit: oneof(constantFrom(...`'"\\$\`!%{};&|<>()#*?~ \n\t`), constantFrom('ü', '🌍', '\u2028', '\u0007', 'a', '0')),
    minLength: 1,
    maxLength: 40,
  }).filter((value) => value.trim() === value && value !== '' && !/["\n]/.test(value[0]! + value.at(-1)!) && !value.includes('"'));

  it.each(['bash', 'python', 'node'])('LM72: a %s script prints exactly the text, whatever it holds', async (language) => {
    await assert(
      asyncProperty(text, async (printed) => {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
        const { calls, finish } = await ask(`write a ${language} script called x that prints "${printed}"`);
        expect(finish).toMatchObject({ task_completed: 'true' });
        const { command } = JSON.parse(calls[1]!.arguments.replaceAll('/workspace', folder)) as { command: string };
        expect(spawnSync('bash', ['-c', command], { encoding: 'utf8' }).stdout).toBe(`${printed}\n`);
      }),
      { numRuns: runs(8) },
    );
  });

  it.each([
    ['please write a python program that prints the numbers from 3 to 1 and run it', '3\n2\n1'],
    ['create a node script to print Hi there!', 'Hi there!'],
    ['Write me a small shell script that echoes "a b".', 'a b'],
    ['make a script in python named greet.py that says ’bonjour’', '’bonjour’'],
  ])('LM72: %s', async (task, printed) => {
    const { calls, finish } = await ask(task);
    expect(perform(calls[1]!)).toContain(printed);
    expect(finish?.message).toContain(printed);
  });

  it.each(['bash', 'python', 'node'])('LM72: fizzbuzz in %s', async (language) => {
    const { finish } = await ask(`write fizzbuzz in ${language}`);
    expect(finish).toMatchObject({ task_completed: 'true' });
    expect(finish?.message).toContain('FizzBuzz\n91\n');
  });
});

describe('files', () => {
  it('LM71: creates, reads, edits, extends, counts, finds, lists and deletes', async () => {
    const steps = [
      ['create a file called notes.txt with the text Buy milk', 'notes.txt'],
      ['replace milk by "bread; $(date)" in notes.txt', 'bread'],
      [`append "it's late" to notes.txt`, "it's late"],
      ['read notes.txt', 'Buy bread; $(date)'],
      ['count the lines in notes.txt', 'has 2 lines'],
      ['find $(date) in notes.txt', 'notes.txt:1:Buy'],
      ['find nothing-like-this', 'does not occur'],
      ['make a folder called drafts', '/drafts is there'],
      ['list the files', 'drafts'],
      ['make a tiny web page that says <Good> morning', 'index.html'],
      ['run `echo $((6*7))`', '42'],
      ['initialise a git repository', 'git repository'],
      ['delete notes.txt', 'deleted'],
    ] as const;
    for (const [task, expected] of steps) {
      const { finish } = await ask(task);
      expect(finish, task).toMatchObject({ task_completed: 'true', message: expect.stringContaining(expected) as string });
    }
    expect(existsSync(join(folder, 'notes.txt'))).toBe(false);
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).toContain('<h1>&lt;Good&gt; morning</h1>');
  });

  it.each(['run `exit 3`', 'delete nowhere.txt', 'read nowhere.txt', 'replace a by b in nowhere.txt', 'count the words in nowhere.txt'])(
    'LM71: %s fails, and it says so',
    async (task) => {
      if (task.includes('nowhere.txt') && task.startsWith('replace')) writeFileSync(join(folder, 'nowhere.txt'), 'aa');
      const { finish } = await ask(task);
      expect(finish).toMatchObject({
        task_completed: 'false',
        message: expect.stringContaining('did not work') as string,
      });
    },
  );

  it.each([
    'delete ../x',
    'read /etc/passwd',
    'list the files in ../..',
    'create a file called /tmp/x',
    'write a bash script called ../x.sh that prints a',
  ])('LM73: %s is refused', async (task) => {
    const { calls, texts } = await ask(task);
    expect(calls).toEqual([]);
    expect(texts[0]).toContain('inside /workspace');
  });
});

describe('what it understands', () => {
  it.each([
    'ls',
    'list files',
    'list all the files',
    'show me the files',
    'what files are there?',
    "what's in src?",
    'list files in the folder src',
  ])('LM74: %s lists files', async (task) => {
    mkdirSync(join(folder, 'src'));
    const { calls, finish } = await ask(task);
    expect(calls[0]?.arguments).toContain('ls -la');
    expect(finish).toMatchObject({ task_completed: 'true' });
  });

  it.each(DEMO_EXAMPLES)('LM74: %s', async (example) => {
    const { calls } = await ask(example);
    expect(calls.length).toBeGreaterThan(0);
  });

  it.each([
    '',
    'what',
    'what is it',
    'what can you do?',
    'write me a novel',
    'rm -rf /',
    'make a folder called my drafts',
    'x'.repeat(5_000),
  ])('LM70: %j is answered with what it can do', async (task) => {
    const { calls, texts, finish } = await ask(task);
    expect([calls, finish]).toEqual([[], undefined]);
    expect(texts[0]).toMatch(/scripted demonstration[\s\S]*LLM_MODEL/);
  });

  it('LM70: without the finish tool it ends with a message', async () => {
    const { finish, texts } = await ask('what time is it?', TOOLS.slice(0, 2));
    expect(finish).toBeUndefined();
    expect(texts.at(-1)).toMatch(/The date and time here[\s\S]*scripted demonstration/);
  });

  it('LM71: words that the engine puts in are not taken for a request', async () => {
    const messages: LlmMessage[] = [
      { role: 'user', text: 'what time is it?' },
      { role: 'user', text: '[Context]\nToday’s date: 2026-01-01' },
    ];
    expect(answerOf(await collect(createDemoProvider(), { messages, tools: TOOLS })).toolCalls).toHaveLength(1);
  });

  it('LM71: a command that is still running, or whose outcome is unknown, is not reported as done', async () => {
    for (const text of ['[The command has no new output after 10 seconds.]', 'Interrupted: the outcome of this call is not known.']) {
      const call = { id: 'a', name: 'execute_bash', arguments: '{"command":"sleep 100"}' };
      const messages: LlmMessage[] = [
        { role: 'user', text: 'run `sleep 100`' },
        { role: 'assistant', text: '', toolCalls: [call] },
        { role: 'tool', toolCallId: 'a', toolName: 'execute_bash', text },
      ];
      const [finish] = answerOf(await collect(createDemoProvider(), { messages, tools: TOOLS })).toolCalls;
      expect(finish?.arguments).toContain('"task_completed":"false"');
    }
  });
});
