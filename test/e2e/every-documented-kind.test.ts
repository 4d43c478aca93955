/** The client of examples/events-doc.mjs and scripted models: every kind and state of openhands-events.md occurs in real conversations. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ModelStep, type ScriptedModel, startScriptedModel } from '@tendon/conformance';
import { waitFor } from '@tendon/testing';
import { TendonProcess } from '@tendon/testing/servers';

const CLIENT = join(import.meta.dirname, '../../examples/events-doc.mjs');
const seen = new Set<string>();
let model: ScriptedModel;
let tendon: TendonProcess;

beforeAll(async () => {
  model = await startScriptedModel();
  tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'key-of-no-one', LLM_BASE_URL: model.url });
});
afterAll(async () => {
  await tendon.remove();
  await model.close();
});

/** Types at the client and reads what it shows. */
class Talk {
  readonly #child = spawn(process.execPath, [CLIENT, tendon.url, '--talk'], { stdio: 'pipe' });
  readonly #ended = once(this.#child, 'exit') as Promise<[number | null]>;
  #shown = Promise.withResolvers<void>();
  #output = '';
  #isOver = false;
  #from = 0;

  constructor() {
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (data: Buffer) => {
        this.#output += data.toString();
        this.#shown.resolve();
        this.#shown = Promise.withResolvers();
      });
    }
    void this.#ended.then(() => (this.#isOver = true));
    onTestFinished(() => void this.#child.kill());
  }

  type(line: string | object): void {
    this.#child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  }

  work(steps: readonly ModelStep[]): void {
    this.type(model.script(steps));
  }

  /** Waits for the next line that shows this. */
  async until(shown: RegExp): Promise<void> {
    for (;;) {
      const found = shown.exec(this.#output.slice(this.#from));
      if (found) return void (this.#from += found.index + found[0].length);
      if (this.#isOver) throw new Error(`the client ended:\n${this.#output}`);
      const more = Promise.race([this.#shown.promise, this.#ended]);
      await waitFor(more, () => `${shown} after ${this.#from} characters of:\n${this.#output.slice(-3000)}`);
    }
  }

  /** The kinds and states that were shown. */
  async leave(): Promise<ReadonlySet<string>> {
    this.#child.stdin.end();
    const [code] = await this.#ended;
    if (code !== 0) throw new Error(`the client ended with ${code}:\n${this.#output}`);
    const kinds = this.#output.matchAll(/^ *\d* +\w+ +((?:action|observation) \w+)/gm);
    const states = this.#output.matchAll(/observation agent_state_changed +is (\w+)/g);
    const shown = new Set([...kinds, ...states].map(([, name]) => name!));
    for (const name of shown) seen.add(name);
    return shown;
  }
}

/** A deadline for a busy machine; a kernel and a browser are started. */
const PATIENT = { timeout: 240_000 };
const FINISH: ModelStep = { call: 'finish', args: { message: 'ready', task_completed: 'true' } };
const state = (name: string): RegExp => new RegExp(`is ${name}\\b`);

it('DL31: what an agent does with its tools, and what a person does themselves', PATIENT, async () => {
  const talk = new Talk();
  const part = model.script([FINISH]);
  talk.work([
    { call: 'execute_bash', args: { command: 'echo shown' } },
    { call: 'execute_ipython_cell', args: { code: 'print(1)' } },
    { call: 'str_replace_editor', args: { command: 'create', path: '/tmp/a.txt', file_text: 'a\n' } },
    { call: 'str_replace_editor', args: { command: 'view', path: '/tmp/a.txt' } },
    { call: 'think', args: { thought: 'a plan' } },
    { call: 'delegate', args: { task: part } },
    FINISH,
  ]);
  await talk.until(state('FINISHED'));
  talk.type({ action: 'write', args: { path: 'b.txt', content: 'b', start: 0, end: -1, thought: '', security_risk: null } });
  await talk.until(/observation write/);
  talk.type({ action: 'null' });
  await talk.until(/observation null/);
  talk.type({ action: 'recall', args: { query: 'shown', thought: '' } });
  await talk.until(/observation recall/);
  talk.type({ action: 'edit', args: { path: 'none.txt', command: 'dance' } });
  await talk.until(/observation error/);
  talk.work([{ call: 'reject', args: { reason: 'it must not be' } }]);
  await talk.until(state('REJECTED'));
  expect([...(await talk.leave())]).toEqual(expect.arrayContaining(['observation run', 'observation run_ipython', 'action reject']));
});

it('DL31: a browser, a download and a page', PATIENT, async () => {
  const talk = new Talk();
  const serve = `cd /tmp && echo file > f.zip && (python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 &) ; until curl -s -o /dev/null 127.0.0.1:8123; do sleep 0.1; done`;
  talk.work([
    { call: 'execute_bash', args: { command: serve } },
    { call: 'web_read', args: { url: `http://127.0.0.1:8123/` } },
    { call: 'browser', args: { code: `goto("http://127.0.0.1:8123/f.zip")` } },
    FINISH,
  ]);
  await talk.until(/action browse /);
  await talk.until(/observation browse /);
  await talk.until(/action browse_interactive/);
  await talk.until(/observation success/);
  await talk.until(state('FINISHED'));
  expect(await talk.leave()).toContain('observation browse');
});

it('DL93: a conversation that grew too long for its model, and a model that is rate limited', PATIENT, async () => {
  const talk = new Talk();
  const run: ModelStep = { call: 'execute_bash', args: { command: 'true' } };
  talk.work([run, run, run, run, run, run, { status: 400, code: 'context_length_exceeded' }, { status: 429 }, FINISH]);
  await talk.until(/action summarize/);
  await talk.until(/observation condense/);
  await talk.until(state('RATE_LIMITED'));
  await talk.until(state('FINISHED'));
  expect(await talk.leave()).toContain('observation condense');
});

it('DL33: what waits for a person, is paused, stopped and fails', PATIENT, async () => {
  const settings = (confirmation_mode: boolean) =>
    fetch(`${tendon.url}/api/settings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ confirmation_mode }),
    });
  await settings(true);
  onTestFinished(async () => void (await settings(false)));
  const talk = new Talk();
  const ask = (agent_state: string) => talk.type({ action: 'change_agent_state', args: { agent_state, thought: '' } });
  const run: ModelStep = { call: 'execute_bash', args: { command: 'sleep 1' } };
  talk.work([run, run]);
  await talk.until(state('AWAITING_USER_CONFIRMATION'));
  ask('USER_REJECTED');
  await talk.until(state('AWAITING_USER_INPUT'));
  talk.work([run, run]);
  await talk.until(state('AWAITING_USER_CONFIRMATION'));
  ask('USER_CONFIRMED');
  await talk.until(state('USER_CONFIRMED'));
  await talk.until(state('AWAITING_USER_CONFIRMATION'));
  ask('PAUSED');
  await talk.until(state('PAUSED'));
  ask('STOPPED');
  await talk.until(state('STOPPED'));
  talk.work([{ status: 401 }]);
  await talk.until(state('ERROR'));
  expect(await talk.leave()).toContain('observation user_rejected');
});

it('DL31, DL33: together that is everything the document names', () => {
  const actions =
    'null run run_ipython browse browse_interactive read write edit message think delegate finish reject summarize recall change_agent_state';
  const observations =
    'null run run_ipython browse read write edit error success user_rejected agent_state_changed delegate think condense recall';
  const states =
    'LOADING INIT RUNNING AWAITING_USER_INPUT PAUSED STOPPED FINISHED REJECTED ERROR RATE_LIMITED AWAITING_USER_CONFIRMATION USER_CONFIRMED USER_REJECTED';
  const all = [
    ...actions.split(' ').map((kind) => `action ${kind}`),
    ...observations.split(' ').map((kind) => `observation ${kind}`),
    ...states.split(' '),
  ];
  expect(all.filter((one) => !seen.has(one))).toEqual([]);
});
