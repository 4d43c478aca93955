import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isAction, isObservation, isState } from '../../target/frames.ts';
import { raw } from '../raw.ts';
import { join, joinNew, message, turn } from '../v0-socketio/join.ts';
import type { Target } from '../../target/target.ts';

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** What hostile, broken and impatient clients do; each ends with a proof that the others are served. */
export const resilience: readonly Check[] = [
  {
    id: 'resilience/big-frame',
    title: 'a frame of 25 MB ends at most its own socket',
    cites: ['SV16', 'DL27'],
    async run(target) {
      const peer = await target.connect.webSocket();
      peer.send(`{"action":"start","args":{"task":"${'x'.repeat(25_000_000)}"}}`);
      await Promise.race([peer.ended, peer.frames.until('an answer', () => true)]);
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/big-body',
    title: 'a body of 60 MB is refused below 500',
    cites: ['SV37'],
    async run(target) {
      const body = `{"initial_user_msg":"${'x'.repeat(60_000_000)}"}`;
      const answer = await target
        .ask('POST', '/api/conversations', { body, headers: { 'content-type': 'application/json' } })
        .catch(() => undefined);
      if (answer) assert.ok(answer.status >= 400 && answer.status < 500, `status ${answer.status}`);
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/deep-json',
    title: 'JSON of 100,000 levels does no harm, over REST and over the socket',
    cites: ['DL27', 'SV37'],
    async run(target) {
      const headers = { 'content-type': 'application/json' };
      const answer = await target.ask('POST', '/api/settings', { body: deep(100_000), headers });
      assert.ok(answer.status < 500, `status ${answer.status}`);
      const peer = await target.connect.webSocket();
      peer.send(`{"action":"message","args":${deep(100_000)}}`);
      await Promise.race([peer.ended, peer.frames.until('an answer', ({ error }) => error !== undefined)]);
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/prototype',
    title: '`__proto__` and `constructor` in a body change nothing for others',
    cites: ['DL27', 'SV37'],
    async run(target) {
      const headers = { 'content-type': 'application/json' };
      const body = '{"__proto__":{"status":"polluted"},"constructor":{"prototype":{"status":"polluted"}},"language":"en"}';
      await target.ask('POST', '/api/settings', { body, headers });
      const { body: info } = await target.ask('GET', `/api/conversations/${await target.converse()}`);
      assert.notEqual(info.status, 'polluted');
      assert.equal(({} as { status?: string }).status, undefined);
    },
  },
  {
    id: 'resilience/garbage',
    title: 'bytes that are no HTTP, half a request and a request that never ends trouble nobody',
    cites: ['SV37', 'SV22'],
    async run(target) {
      await raw(target, '\0\x01\x02garbage\r\n\r\n', 5000);
      await raw(target, 'GET /alive HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ', 500);
      await raw(
        target,
        'POST /api/conversations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{',
        500,
      );
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/host',
    title: 'a request for a foreign `Host` is refused, so that a page of another site cannot reach this server by a name of its own',
    cites: ['SV3'],
    async run(target) {
      const answer = await raw(target, 'GET /api/settings HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', 5000);
      assert.match(answer, /^HTTP\/1\.1 4\d\d/);
    },
  },
  {
    id: 'resilience/origin',
    title: 'a page of another origin may not open a socket',
    cites: ['SV4'],
    async run(target) {
      const peer = await target.connect.webSocket({ headers: { origin: 'https://evil.example' } });
      assert.match(await peer.ended, /\b4\d\d\b|1008/);
    },
  },
  {
    id: 'resilience/path-tricks',
    title: 'paths with dots, encodings and NUL lead nowhere',
    cites: ['SV19', 'SV37'],
    async run(target) {
      for (const path of [
        '/../../../../etc/passwd',
        '/..%2f..%2f..%2fetc%2fpasswd',
        '/assets/..%2f..%2f..%2fetc%2fpasswd',
        '/%00',
        '/api/%ff%fe',
      ]) {
        const answer = await raw(target, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`, 5000);
        assert.doesNotMatch(answer, /root:/);
        assert.doesNotMatch(answer, /^HTTP\/1\.1 5/, path);
      }
    },
  },
  {
    id: 'resilience/half-open',
    title: 'a hundred clients that come and vanish without a word cost nothing',
    cites: ['SV22', 'SV17'],
    async run(target) {
      const { id } = await joinNew(target);
      for (let round = 0; round < 100; round += 1) join(target, id).close();
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/noisy-neighbour',
    title: 'a client that floods one conversation with nonsense does not keep another from its answer',
    cites: ['SV16', 'DL89'],
    async run(target) {
      const noisy = await joinNew(target);
      for (let n = 0; n < 2000; n += 1) noisy.peer.send({ action: 'no_such_action', args: { n } });
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/long-output',
    title: '20 MB of output come as a bounded observation, and the next command runs',
    cites: ['RT8', 'RT29'],
    async run(target) {
      const frames = await turn(target, await joinNew(target), [
        { call: 'execute_bash', args: { command: "head -c 20000000 /dev/zero | tr '\\0' 'x'" } },
        { call: 'execute_bash', args: { command: 'echo next' } },
      ]);
      const [long, next] = frames.filter(isObservation('run'));
      assert.ok(String(long?.content).length < 40_000, `${String(long?.content).length} characters`);
      assert.equal(String(next?.content).trim(), 'next');
    },
  },
  {
    id: 'resilience/sandbox-suicide',
    title: 'an agent that kills every process it can is answered, and its next command runs',
    cites: ['RT40', 'SB19', 'RT25'],
    async run(target) {
      const frames = await turn(target, await joinNew(target), [
        { call: 'execute_bash', args: { command: 'kill -9 -1' } },
        { call: 'execute_bash', args: { command: 'echo alive' } },
      ]);
      const ran = frames.filter(
        ({ observation }) => observation !== undefined && observation !== 'agent_state_changed' && observation !== 'recall',
      );
      assert.equal(String(ran.at(-1)?.content).trim(), 'alive');
    },
  },
  {
    id: 'resilience/impatient',
    title: 'a second message while the agent works is stored and reaches it',
    cites: ['EN1', 'SV16'],
    async run(target) {
      const { peer } = await joinNew(target);
      peer.send(message(target.model.script([{ call: 'execute_bash', args: { command: 'sleep 1' } }])));
      await peer.frames.until('the action', isAction('run'));
      peer.send(message(target.model.script([{ text: 'heard the second' }])));
      await peer.frames.until(
        'the answer to the second',
        ({ args }) => (args as { content?: unknown } | undefined)?.content === 'heard the second',
      );
    },
  },
  {
    id: 'resilience/model-stumbles',
    title: 'a model that answers 500 once is asked again, and the turn goes on',
    cites: ['LM1', 'EN1'],
    async run(target) {
      const { peer } = await joinNew(target);
      peer.send(message(target.model.script([{ status: 500 }, { text: 'recovered' }])));
      await peer.frames.until('the answer', ({ args }) => (args as { content?: unknown } | undefined)?.content === 'recovered', {
        withinMs: 4 * target.server.timeoutMs,
      });
      await peer.frames.until('rest', isState('awaiting_user_input'), { from: 4 });
    },
  },
];

/** The server still serves: a conversation is made, a message answered. */
export async function stillWorks(target: Target): Promise<void> {
  await turn(target, await joinNew(target), [{ text: 'well' }]);
}
