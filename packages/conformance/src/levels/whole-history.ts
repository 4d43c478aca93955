import assert from 'node:assert/strict';
import { argsOf, isAction, isObservation, type Frame } from '../target/frames.ts';
import type { ModelStep } from '../model/model-step.ts';
import type { Target } from '../target/target.ts';
import { joinNew, turn, type JoinedConversation } from './v0-socketio/join.ts';

/** With their observations more than fifty events: a server that loses one in fifty loses one of them. */
const COMMANDS = Array.from({ length: 30 }, (_, at) => `echo event-${at + 1}`);

/** One answer of the model with all the commands. */
export const ANSWER: ModelStep = { calls: COMMANDS.map((command) => ({ call: 'execute_bash', args: { command } })) };

/** A conversation in which the agent has run all of the commands, its client, and the frames that the client received in that turn. */
export async function longTurn(target: Target): Promise<JoinedConversation & { readonly live: readonly Frame[] }> {
  const ready = await joinNew(target);
  return { ...ready, live: await turn(target, ready, [ANSWER]) };
}

export const isEvent = (frame: Frame): boolean => typeof frame.id === 'number';

/** States are left out: the current one may be sent at another place than the log has it. */
export const idsOf = (frames: readonly Frame[]): readonly number[] =>
  frames.filter((frame) => isEvent(frame) && !isObservation('agent_state_changed')(frame)).map(({ id }) => Number(id));

/** Every command and its observation are there once and in order, each observation with its action as cause. `who` names whose view it is. */
export function isWhole(frames: readonly Frame[], who: string): void {
  for (const [at, command] of COMMANDS.entries()) {
    const action = theOnly(
      frames.filter((frame) => isAction('run')(frame) && argsOf(frame).command === command),
      `the action "${command}"`,
      who,
    );
    const outputs = frames.filter(
      (frame) => isObservation('run')(frame) && new RegExp(`(^|\\n)event-${at + 1}$`).test(String(frame.content).trim()),
    );
    const output = theOnly(outputs, `the observation of "${command}"`, who);
    assert.equal(output.cause, action.id, `${who}: the observation of "${command}" does not name its action as its cause`);
  }
  isInOrder(idsOf(frames), who);
}

/** The same for the generation without ids and causes, whose frames stand in the order in which things happened. */
export function isWholeInTurn(frames: readonly Frame[], who: string): void {
  const runs = COMMANDS.map((command, at) => {
    const action = frames.filter((frame) => isAction('run')(frame) && argsOf(frame).command === command);
    const outputs = frames.filter((frame) => isObservation('run')(frame) && String(frame.content).trim() === `event-${at + 1}`);
    const began = frames.indexOf(theOnly(action, `the action "${command}"`, who));
    const ended = frames.indexOf(theOnly(outputs, `the observation of "${command}"`, who));
    assert.ok(began < ended, `${who} was sent the observation of "${command}" before its action`);
    return { began, ended };
  });
  isInOrder(
    runs.map(({ began }) => began),
    who,
  );
  isInOrder(
    runs.map(({ ended }) => ended),
    who,
  );
}

function isInOrder(ids: readonly number[], who: string): void {
  for (const [at, id] of ids.entries()) {
    const before = ids[at - 1];
    if (before === undefined) continue;
    assert.notEqual(id, before, `${who} was sent event ${id} twice`);
    assert.ok(id > before, `${who} was sent events out of order: ${id} after ${before}`);
  }
}

/** Nothing at or before `after`, and everything behind it of `all`. */
export function isTheRest(
  ids: readonly number[],
  { after, all, who }: { readonly after: number; readonly all: readonly number[]; readonly who: string },
): void {
  isInOrder(ids, who);
  const again = ids.filter((id) => id <= after);
  assert.deepEqual(again, [], `${who} asked for what came after ${after} and was sent ${again.join(', ')} again`);
  const missed = all.filter((id) => id > after && !ids.includes(id));
  assert.deepEqual(missed, [], `${who} asked for what came after ${after} and was not sent ${missed.join(', ')}`);
}

function theOnly(frames: readonly Frame[], what: string, who: string): Frame {
  assert.ok(frames.length > 0, `${who} was not sent ${what}`);
  assert.equal(frames.length, 1, `${who} was sent ${what} ${frames.length} times`);
  return frames[0]!;
}
