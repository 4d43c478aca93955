/**
 * One conversation, followed with the SDK through 24 faults: after each, what it gave is what the server has. The history is never begun
 * anew: every event came once, in order, whatever was in the way.
 */
import { createClient, type Client, type ConversationConnection } from '@tendon/client';
import { isAction, isObservation, type Event } from '@tendon/protocol';
import type { ConversationState } from '@tendon/protocol/reduce';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FaultyLine, textFrame } from './faulty-line.ts';

const deadline = () => AbortSignal.timeout(90_000);

class Script {
  readonly tendon: TendonProcess;
  readonly line: FaultyLine;
  readonly id: string;
  client: Client;
  connection!: ConversationConnection;
  /** All that the SDK gave, in the order in which it did. */
  readonly history: Event[] = [];
  readonly asked: string[] = [];
  #reading: Promise<void> = Promise.resolve();

  constructor(tendon: TendonProcess, line: FaultyLine, id: string, baseUrl: string) {
    this.tendon = tendon;
    this.line = line;
    this.id = id;
    this.client = createClient({ baseUrl });
  }

  /** As a program that starts, and knows where it was. */
  begin(options: { readonly tail?: number } = {}): void {
    const after = this.history.at(-1)?.id ?? -1;
    const connection = this.client.open(this.id, { latestEventId: after, random: () => 1, offlineAfterMs: 500, ...options });
    this.connection = connection;
    this.#reading = (async () => {
      for await (const event of connection.events()) this.history.push(event);
    })();
  }

  async end(): Promise<void> {
    this.connection.close();
    await this.#reading;
  }

  say(): void {
    this.asked.push(`question ${this.asked.length}`);
    this.connection.say(this.asked.at(-1)!);
  }

  /** When everything is well again: what was given, what a client is given that was never in the way of a fault, and the questions. */
  async complete(): Promise<{
    readonly given: readonly unknown[];
    readonly wanted: readonly unknown[];
    readonly asked: readonly string[];
  }> {
    this.connection.retry();
    const isAnswered = ({ agentState, lastAgentEventId, lastUserMessageId }: ConversationState) =>
      agentState === 'awaiting_user_input' && lastAgentEventId > lastUserMessageId;
    const questions = () =>
      this.history.flatMap((event) =>
        isAction(event) && event.action === 'message' && event.source === 'user' ? [event.args.content] : [],
      );
    await this.connection.when(({ state, outbox }) => outbox.length === 0 && isAnswered(state), deadline());
    await this.#until('the question', () => questions().includes(this.asked.at(-1)!));
    const fresh = createClient({ baseUrl: this.tendon.url }).open(this.id);
    const { events } = await fresh.when(({ loaded, state }) => loaded && isAnswered(state), deadline());
    fresh.close();
    await this.#until('the last event', () => this.history.at(-1)!.id >= events.at(-1)!.id);
    const ids = new Set(events.map(({ id }) => id));
    return {
      given: this.history.filter(({ id }) => ids.has(id)).map((event) => [event.id, saysOf(event)]),
      wanted: events.map((event) => [event.id, saysOf(event)]),
      asked: questions(),
    };
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    const look = (): void => {
      if (!holds()) throw new Error(`${what} did not come; the last of ${this.history.length} is ${JSON.stringify(this.history.at(-1))}`);
    };
    await vi.waitFor(look, { timeout: 60_000, interval: 20 });
  }

  async isLost(): Promise<void> {
    await this.connection.when(({ connection: { state } }) => state === 'reconnecting' || state === 'offline', deadline());
  }
}

/** Of a replayed and a live copy: they differ in nothing else that matters. */
function saysOf(event: Event | undefined): unknown {
  if (event && isAction(event)) return [event.action, event.args];
  return event && isObservation(event) ? [event.observation, event.content, event.extras] : event;
}

type Step = readonly [name: string, fault: (script: Script) => Promise<void> | void];

const cutThenSay = async (script: Script) => {
  script.line.cut();
  await script.isLost();
  script.say();
};

const refusedAs = (mode: FaultyLine['mode']) => async (script: Script) => {
  script.line.mode = mode;
  await cutThenSay(script);
  script.line.mode = 'through';
};

const replayedUntil = (bytes: number) => async (script: Script) => {
  await script.end();
  script.line.allowance = bytes;
  script.begin();
  script.say();
  await script.connection.when(({ connection: { state } }) => state !== 'connecting' || bytes < 1000, deadline());
  script.line.allowance = Infinity;
  script.line.cut();
};

const restarted = (signal: NodeJS.Signals) => async (script: Script) => {
  script.say();
  await script.tendon.kill(signal);
  await script.isLost();
  await script.tendon.start();
};

const SCRIPT: readonly Step[] = [
  ['nothing', (script) => script.say()],
  ['a cut line', cutThenSay],
  ['a line that is cut while a message is under way', (script) => (script.say(), script.line.cut())],
  [
    'a line that is cut again and again',
    async (script) => {
      for (let round = 0; round < 4; round += 1) {
        await script.connection.when(({ connection: { state } }) => state === 'connected', deadline());
        await cutThenSay(script);
        script.connection.retry();
      }
    },
  ],
  ['a replay that is cut in its first frame', replayedUntil(400)],
  ['a replay that is cut in the middle of a frame', replayedUntil(3_001)],
  ['a replay that is cut later', replayedUntil(9_007)],
  [
    'a line that trickles',
    async (script) => {
      script.line.pieceBytes = 7;
      await cutThenSay(script);
    },
  ],
  [
    'frames that come twice',
    async (script) => {
      script.line.pieceBytes = Infinity;
      script.line.isDoubling = true;
      await cutThenSay(script);
    },
  ],
  [
    'frames that come twice, in pieces, over a line that is cut',
    async (script) => {
      script.line.pieceBytes = 5;
      script.say();
      await cutThenSay(script);
      script.connection.retry();
      await script.connection.when(({ connection: { state } }) => state === 'connected', deadline());
      script.line.cut();
      script.line.pieceBytes = Infinity;
      script.line.isDoubling = false;
    },
  ],
  [
    'frames that say nothing',
    (script) => {
      for (const frame of ['42["oh_event","nonsense"]', '42["oh_event",{"id":"x"}]', '42["tendon_volatile",[]]', '42["other"]'])
        script.line.say(textFrame(frame));
      script.say();
    },
  ],
  [
    'bytes that are no frame',
    async (script) => {
      script.line.say(Buffer.from([0xff, 0xff, 0xff, 0x00, 0x12]));
      await script.isLost();
      script.say();
    },
  ],
  [
    'a frame that is no message of Socket.IO',
    async (script) => {
      script.line.say(textFrame('4%{['));
      await script.isLost();
      script.say();
    },
  ],
  ['a server that is not there', refusedAs('refuse')],
  ['a proxy that answers for the server', refusedAs('bad-gateway')],
  ['a line that takes everything and answers nothing', refusedAs('silent')],
  ['a server that is killed', restarted('SIGKILL')],
  ['a server that is stopped', restarted('SIGTERM')],
  [
    'a server that is suspended',
    (script) => {
      process.kill(script.tendon.pid, 'SIGSTOP');
      script.say();
      script.line.cut();
      process.kill(script.tendon.pid, 'SIGCONT');
    },
  ],
  [
    'a conversation that is stopped',
    async (script) => {
      await createClient({ baseUrl: script.tendon.url }).conversations.stop(script.id);
      script.connection.retry();
      await script.connection.when(({ connection: { state } }) => state === 'connected', deadline());
      script.say();
    },
  ],
  [
    'a program that is started anew',
    async (script) => {
      await script.end();
      script.begin();
      script.say();
    },
  ],
  [
    'a server at another port',
    async (script) => {
      await script.end();
      script.client = createClient({ baseUrl: await script.line.open() });
      script.begin();
      script.say();
    },
  ],
  [
    'a program that asked for the end alone',
    async (script) => {
      await script.end();
      script.history.splice(3);
      script.begin({ tail: 2 });
      script.say();
    },
  ],
  [
    'a client that forgets what it gave',
    async (script) => {
      script.connection.forget(script.history.at(-1)!.id);
      await cutThenSay(script);
    },
  ],
];

it('CK963: of 24 faults, one after the other, none leaves a gap in the history or anything in it twice', { timeout: 280_000 }, async () => {
  expect(SCRIPT).toHaveLength(24);
  const answers = Array.from({ length: 60 }, (_, index) => ({ text: `answer ${index}` }));
  const tendon = await TendonProcess.scripted(answers);
  onTestFinished(() => tendon.remove());
  const line = new FaultyLine(Number(new URL(tendon.url).port));
  onTestFinished(() => line.close());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const script = new Script(tendon, line, id, await line.open());
  onTestFinished(() => script.end());
  script.begin();
  for (const [name, fault] of SCRIPT) {
    await fault(script);
    const { given, wanted, asked } = await script.complete();
    expect(given, name).toEqual(wanted);
    expect(asked, name).toEqual(script.asked);
    const ids = script.history.map((event) => event.id);
    expect(ids, name).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  }
});
