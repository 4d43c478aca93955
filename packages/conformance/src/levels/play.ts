import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Check, Level } from '../check.ts';
import { extrasOf, isState, type Frame } from '../target/frames.ts';
import type { Target } from '../target/target.ts';
import { joinNew, message, type JoinedConversation } from './v0-socketio/join.ts';

/** What is compared of an observation: texts without the white space around them, patterns, and of the rest what is named. */
export interface ExpectedObservation {
  readonly kind?: string | RegExp;
  readonly content?: string | RegExp;
  readonly exit?: number;
  readonly prefix?: RegExp;
  readonly suffix?: RegExp;
  readonly success?: boolean;
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** A text or a pattern alone is the content of something that went well. */
export type Expectation = string | RegExp | ExpectedObservation;

/** What the scripted model calls, or a client does, and what it is answered. */
export interface ScenarioStep {
  readonly by: 'agent' | 'client';
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly expected: ExpectedObservation;
}

/** A rule as a row: the steps are done in order, in a folder of its own (`at`), in a conversation that other rows may have used. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly cites: readonly string[];
  /** Other rows would notice what it leaves behind, or it takes long: no other row uses its conversation. */
  readonly isSeparate?: boolean;
  readonly steps: (at: string, silenceSeconds: number) => readonly ScenarioStep[];
}

/** Long enough for a busy machine: without it what prints nothing for ten seconds is handed back. */
const PATIENT = { timeout: 60 };

export function run(command: string, answer: Expectation, args: Readonly<Record<string, unknown>> = PATIENT): ScenarioStep {
  const went = isContent(answer) && { exit: 0 };
  return step('agent', 'execute_bash', { command, ...args }, { kind: 'run', ...went }, answer);
}

/** Text or a key for the command that runs; empty waits for its output. */
export function input(command: string, answer: Expectation, args: Readonly<Record<string, unknown>> = {}): ScenarioStep {
  return step('agent', 'execute_bash', { command, is_input: 'true', ...args }, { kind: 'run' }, answer);
}

export function cell(code: string, answer: Expectation, args: Readonly<Record<string, unknown>> = PATIENT): ScenarioStep {
  return step('agent', 'execute_ipython_cell', { code, ...args }, { kind: 'run_ipython' }, answer);
}

export function editor(command: string, path: string, answer: Expectation, args: Readonly<Record<string, unknown>> = {}): ScenarioStep {
  return step('agent', 'str_replace_editor', { command, path, ...args }, { kind: command === 'view' ? 'read' : 'edit' }, answer);
}

export function tool(name: string, args: Readonly<Record<string, unknown>>, kind: string, answer: Expectation): ScenarioStep {
  return step('agent', name, args, { kind }, answer);
}

export function browser(code: string, answer: Expectation): ScenarioStep {
  return step('agent', 'browser', { code }, { kind: 'browse' }, answer);
}

/** An action as a client sends it; the observation is of the same kind where none is named. */
export function client(action: string, args: Readonly<Record<string, unknown>>, answer: Expectation): ScenarioStep {
  return step('client', action, args, { kind: action }, answer);
}

/** `shares`: the conversation of the rows that are not separate, by a name. */
export function scenarios(level: Level, shares: string, rows: readonly Scenario[]): readonly Check[] {
  return rows.map(({ id, title, cites, isSeparate = false, steps }) => ({
    id: `${level}/${id}`,
    title,
    cites,
    ...(!isSeparate && { shares }),
    run: (target) => play(target, steps),
  }));
}

function step(
  by: ScenarioStep['by'],
  name: string,
  args: ScenarioStep['args'],
  usual: ExpectedObservation,
  answer: Expectation,
): ScenarioStep {
  return { by, name, args, expected: { ...usual, ...(isContent(answer) ? { content: answer } : answer) } };
}

function isContent(answer: Expectation): answer is string | RegExp {
  return typeof answer === 'string' || answer instanceof RegExp;
}

async function play(target: Target, steps: Scenario['steps']): Promise<void> {
  const ready = await target.shared(joinNew);
  const at = `/tmp/conformance-${randomBytes(4).toString('hex')}`;
  const given = steps(at, target.server.silenceSeconds);
  const all = steps.length === 0 ? given : [run(`mkdir -p ${at} && cd ${at}`, ''), ...given];
  for (const turn of turnsOf(all)) await (turn[0]!.by === 'agent' ? letAgent(target, ready, turn) : letClient(ready, turn));
}

/** Consecutive steps by the same side, agent or client. */
function turnsOf(steps: readonly ScenarioStep[]): readonly (readonly ScenarioStep[])[] {
  const turns: ScenarioStep[][] = [];
  for (const one of steps) {
    const last = turns.at(-1);
    if (last?.[0]?.by === one.by) last.push(one);
    else turns.push([one]);
  }
  return turns;
}

async function letAgent(target: Target, { peer: { frames, send } }: JoinedConversation, steps: readonly ScenarioStep[]): Promise<void> {
  const from = frames.all.length;
  const calls = steps.map(({ name, args }) => ({ call: name, args, id: `call_${randomBytes(8).toString('hex')}` }));
  send(message(target.model.script(calls)));
  await frames.until('running', isState('running'), { from });
  await frames.until('the end of the turn', isState('awaiting_user_input', 'finished', 'error'), {
    from,
    withinMs: 3 * target.server.timeoutMs,
  });
  steps.forEach((one, index) => {
    const observation = frames.all.findLast((frame) => frame.observation !== undefined && callOf(frame) === calls[index]!.id);
    fits(one, observation);
  });
}

async function letClient({ peer: { frames, send } }: JoinedConversation, steps: readonly ScenarioStep[]): Promise<void> {
  for (const one of steps) {
    const from = frames.all.length;
    send({ action: one.name, args: one.args });
    fits(one, await frames.until(`an answer to ${nameOf(one)}`, isAnswer, { from }));
  }
}

function callOf(frame: Frame): unknown {
  return (frame.tool_call_metadata as Frame | undefined)?.tool_call_id;
}

function isAnswer({ observation }: Frame): boolean {
  return observation !== undefined && observation !== 'agent_state_changed' && observation !== 'recall';
}

function nameOf({ name, args }: ScenarioStep): string {
  return `${name} ${JSON.stringify(args).slice(0, 60)}`;
}

function fits(one: ScenarioStep, frame: Frame | undefined): void {
  assert.ok(frame, `no observation of ${nameOf(one)}`);
  const { expected } = one;
  const extras = extrasOf(frame);
  const metadata = (extras.metadata ?? {}) as Frame;
  const same = (what: string, seen: unknown, wanted: unknown): void => {
    if (wanted === undefined) return;
    const isSame = wanted instanceof RegExp ? wanted.test(String(seen)) : Object.is(seen, wanted);
    assert.ok(isSame, `${nameOf(one)}: ${what} is ${brief(seen)}, not ${brief(wanted)}`);
  };
  same('the observation', frame.observation, expected.kind);
  same('content', typeof expected.content === 'string' ? String(frame.content).trim() : frame.content, expected.content);
  same('exit code', metadata.exit_code, expected.exit);
  same('prefix', metadata.prefix, expected.prefix);
  same('suffix', metadata.suffix, expected.suffix);
  same('success', frame.success, expected.success);
  for (const [key, wanted] of Object.entries(expected.extras ?? {})) {
    same(
      key,
      wanted instanceof RegExp ? extras[key] : JSON.stringify(extras[key]),
      wanted instanceof RegExp ? wanted : JSON.stringify(wanted),
    );
  }
}

function brief(value: unknown): string {
  const text = value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? 'undefined');
  return text.length > 60 ? `${text.slice(0, 40)}…${text.slice(-15)}` : text;
}
