import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import type { Frame } from '../../../target/frames.ts';
import { joinNew } from '../join.ts';
import { has, inShared, textOfRequest, textOf, type ModelMessage, bash, begin, request, rested, spoken } from './talk.ts';

const PICTURE = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Every call has one result after it, ids are plain, arguments are objects, and no text is empty. */
function isLegal(messages: readonly ModelMessage[]): void {
  for (const [index, one] of messages.entries()) {
    if (one.role !== 'assistant') assert.notEqual(textOf(one).trim(), '', `an empty message of ${one.role}`);
    for (const { id, function: called } of one.tool_calls ?? []) {
      assert.match(id, /^[A-Za-z0-9_-]+$/);
      assert.equal(typeof JSON.parse(called.arguments), 'object');
      assert.equal(messages.slice(index).filter((other) => other.tool_call_id === id).length, 1, `results of ${id}`);
    }
  }
}

/** What the model is shown of the conversation: read at its endpoint. */
export const view: readonly Check[] = [
  {
    id: 'v0-socketio/view-prefix',
    title: 'consecutive requests share their beginning, so that a provider’s cache helps',
    cites: ['EN31'],
    shares: 'talk',
    async run(target) {
      const talk = await spoken(target, [bash('echo one'), bash('echo two')], await inShared(target));
      const [first, last] = [await request(target, talk, 0), await request(target, talk, 2)];
      assert.deepEqual(last.messages.slice(0, first.messages.length), first.messages);
      assert.deepEqual(last.tools, first.tools);
    },
  },
  {
    id: 'v0-socketio/view-words',
    title: 'every word of the user is in the request',
    cites: ['EN32'],
    async run(target) {
      const first = await spoken(target, [{ text: 'one' }]);
      await spoken(target, [{ text: 'two' }], { ready: first.ready });
      const third = await spoken(target, [{ text: 'three' }], { ready: first.ready });
      const asked = await request(target, third, 0);
      has(asked, first.words);
      has(asked, third.words);
    },
  },
  {
    id: 'v0-socketio/view-result',
    title: 'a command answers with its output, the folder it left the shell in, the interpreter and the exit code',
    cites: ['EN34'],
    shares: 'talk',
    async run(target) {
      const talk = await spoken(target, [bash('cd /tmp; echo shown; (exit 3)'), { text: 'seen' }], await inShared(target));
      const answer = textOf((await request(target, talk, 1)).messages.at(-1)!);
      for (const words of [/shown/, /\/tmp/, /python/i, /\b3\b/]) assert.match(answer, words);
    },
  },
  {
    id: 'v0-socketio/view-bounded',
    title: 'an observation shows the model at most 30,000 characters: its beginning and its end',
    cites: ['EN35', 'DL8'],
    shares: 'talk',
    async run(target) {
      const talk = await spoken(target, [bash('seq 1 100000'), { text: 'seen' }], await inShared(target));
      const answer = textOf((await request(target, talk, 1)).messages.at(-1)!);
      assert.ok(answer.length < 33_000, `${answer.length} characters`);
      assert.match(answer, /1\n2\n3\n[^]*99999\n100000/);
      const wire = talk.frames.find(({ observation }) => observation === 'run');
      assert.ok(String(wire?.content).length < 33_000, `${String(wire?.content).length} characters on the wire`);
    },
  },
  {
    id: 'v0-socketio/view-between',
    title: 'a message that the user sends between a call and its result is in the next request, after the result',
    cites: ['EN13', 'EN36'],
    shares: 'talk',
    async run(target) {
      const talk = await begin(target, [bash('sleep 1; echo the-result'), { text: 'seen' }], await inShared(target));
      const { frames, send } = talk.ready.peer;
      await frames.until('the action', ({ action }) => action === 'run', { from: talk.from });
      send({ action: 'message', args: { content: 'sent-in-between' } });
      const { messages } = await request(target, talk, 1);
      const at = (words: string): number => messages.findIndex((one) => one.role !== 'assistant' && textOf(one).includes(words));
      assert.ok(
        at('the-result') > 0 && at('the-result') < at('sent-in-between'),
        `result ${at('the-result')}, message ${at('sent-in-between')}`,
      );
      await rested(target, talk);
    },
  },
  {
    id: 'v0-socketio/view-pictures',
    title: 'pictures of the user are in the request',
    cites: ['EN41'],
    async run(target) {
      const { peer } = await joinNew(target);
      const words = target.model.script([{ text: 'seen' }]);
      peer.send({ action: 'message', args: { content: words, image_urls: [PICTURE] } });
      const asked = await target.eventually('request', () => target.model.requests(words)[0]);
      assert.ok(JSON.stringify(asked).includes(PICTURE.slice(-60)), 'the picture is not in it');
    },
  },
  {
    id: 'v0-socketio/view-terminal',
    title: 'the model is shown what the user ran in the terminal',
    cites: ['EN42'],
    async run(target) {
      const ready = await joinNew(target);
      ready.peer.send({ action: 'run', args: { command: 'echo by-hand' } });
      await ready.peer.frames.until('the observation', ({ observation }) => observation === 'run');
      has(await request(target, await begin(target, [{ text: 'seen' }], { ready }), 0), 'by-hand');
    },
  },
  {
    id: 'v0-socketio/view-small',
    title: 'prompt and tools together are at most 12 KB',
    cites: ['EN60'],
    async run(target) {
      const { messages, tools } = await request(target, await begin(target, [{ text: 'seen' }]), 0);
      const prompt = messages.filter(({ role }) => role === 'system');
      const bytes = Buffer.byteLength(JSON.stringify([prompt, tools]));
      assert.ok(bytes <= 12 * 1024, `${bytes} bytes`);
    },
  },
  {
    id: 'v0-socketio/view-tools',
    title: 'every tool is offered as an object of typed parameters; those of shell, cells, editor and browser are there',
    cites: ['EN61', 'RT170'],
    async run(target) {
      const { tools } = await request(target, await begin(target, [{ text: 'seen' }]), 0);
      for (const { type, function: tool } of tools) {
        assert.equal(type, 'function');
        assert.equal((tool.parameters as { type?: string } | undefined)?.type, 'object', tool.name);
      }
      const names = tools.map(({ function: { name } }) => name);
      for (const name of ['execute_bash', 'execute_ipython_cell', 'str_replace_editor', 'browser', 'finish', 'think'])
        assert.ok(names.includes(name), `no ${name} among ${names.join()}`);
    },
  },
  {
    id: 'v0-socketio/view-legal',
    title: 'a request is legal for every provider, whatever the model answered before',
    cites: ['LM50'],
    shares: 'talk',
    async run(target) {
      const odd = { ...bash('true'), id: 'odd id: *' };
      const steps = [{ ...odd, text: ' ' }, { call: 'no_such_tool', args: '' }, bash('true'), { text: 'seen' }];
      const talk = await spoken(target, steps, await inShared(target));
      isLegal((await request(target, talk, 3)).messages);
    },
  },
  {
    id: 'v0-socketio/view-model-name',
    title: 'at a base URL a known prefix of the model’s name is taken off',
    cites: ['LM40'],
    async run(target) {
      const { model } = await request(target, await begin(target, [{ text: 'seen' }]), 0);
      assert.equal(model, 'gpt-4o');
    },
  },
  {
    id: 'v0-socketio/view-page',
    title: 'the model is shown a page’s address and title with its content',
    cites: ['RT172'],
    shares: 'browser',
    async run(target) {
      const url = 'data:text/html,<title>A-title</title><p>some-words';
      const talk = await spoken(target, [{ call: 'browser', args: { code: `goto("${url}")` } }, { text: 'seen' }], await inShared(target));
      has(await request(target, talk, 1), /A-title/);
      has(await request(target, talk, 1), /some-words/);
    },
  },
  {
    id: 'v0-socketio/view-pieces',
    title: 'texts and arguments that come in pieces are put together as they were written',
    cites: ['LM2', 'LM3'],
    shares: 'talk',
    async run(target) {
      const text = `äöü 漢字 🙂 "quotes" and \\ ${'long '.repeat(200)}end`;
      const command = `cat <<'EOF'\n${text}\nEOF`;
      const { frames } = await spoken(target, [{ ...bash(command), text }, { text }], await inShared(target));
      const action = frames.find(({ action: kind }) => kind === 'run');
      assert.equal((action?.args as Frame | undefined)?.command, command);
      assert.ok(
        frames.some(({ action: kind, source, args }) => kind === 'message' && source === 'agent' && (args as Frame).content === text),
      );
    },
  },
  {
    id: 'v0-socketio/view-tokens',
    title: 'tokens are counted up in `llm_metrics`',
    cites: ['LM6'],
    async run(target) {
      const { frames } = await spoken(target, [
        { ...bash('true'), tokens: 100 },
        { ...bash('true'), tokens: 1000 },
      ]);
      const counts = frames
        .filter(({ action }) => action === 'run')
        .map(
          ({ llm_metrics: metrics }) =>
            (metrics as { accumulated_token_usage: { prompt_tokens: number } }).accumulated_token_usage.prompt_tokens,
        );
      assert.deepEqual(counts, [100, 1100]);
    },
  },
  {
    id: 'v0-socketio/view-instructions',
    title: 'instructions given with a conversation are in the prompt of its agent',
    cites: ['SV31'],
    async run(target) {
      const words = target.model.script([{ text: 'seen' }]);
      await target.converse({ conversation_instructions: 'only-in-rhymes', initial_user_msg: words });
      const asked = await target.eventually('request', () => target.model.requests(words)[0]);
      assert.ok(
        textOfRequest(asked as unknown as Parameters<typeof textOfRequest>[0]).includes('only-in-rhymes'),
        'they are not in the request',
      );
    },
  },
];
