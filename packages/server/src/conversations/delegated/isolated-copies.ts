/**
 * Owns the copies of one conversation's workspace in which agents work that it has delegated to: how each is made, handed over, removed.
 *
 * IC1  A copy is a folder of the other conversation's own and goes with it; its sandbox mounts nothing else of the workspace.
 * IC2  What the server does with git it does inside a sandbox. What comes out of the copy's is untrusted: commits, names, and a patch.
 * IC3  Every part of it can be done again, so what a kill has cut off is.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Delegation, Runtime, Runtimes } from '@tendon/core';
import { removeFolder, type SandboxPool } from '@tendon/runtime';
import { ownFolder } from '../../sandboxes/workspace-folder.ts';
import { nulFields } from '../../sandboxes/nul-fields.ts';
import { runSandboxCommand, type CommandOutput } from '../../sandboxes/sandbox-command.ts';
import type { ConversationRecords, StoredConversation } from '../conversation-records.ts';
import type { NewPlace } from '../new-conversations.ts';
import {
  BUNDLE,
  collectScript,
  DELETED,
  DELETED_SCRIPT,
  NO_GIT,
  PATCH,
  prepareScript,
  takeScript,
  type Committer,
} from './copy-scripts.ts';

export interface IsolatedCopiesOptions {
  readonly parent: StoredConversation;
  /** Of the conversation that delegates, with its repository in them. */
  readonly own: Runtimes;
  readonly pool: Pick<SandboxPool, 'acquire' | 'copyWorkspace' | 'stop'>;
  readonly records: Pick<ConversationRecords, 'get' | 'change'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly committer: () => Committer;
  readonly home: string;
}

interface Signal {
  readonly signal: AbortSignal;
}

const GIT_SECONDS = 300;
const FILE_MS = 120_000;
const MAX_OUTPUT = 1024 * 1024;
/** Of a bundle or a patch: the server holds it in memory. */
const MAX_BYTES = 64 * 1024 ** 2;
const MAX_DELETED = 20_000;
const FIELDS = 5;
const MAX_PLACES = 100;

export class IsolatedCopies {
  readonly #options: IsolatedCopiesOptions;

  constructor(options: IsolatedCopiesOptions) {
    this.#options = options;
  }

  /** Fills the folder of another conversation. Rejects with a reason that can be shown. */
  async make({ workspace }: NewPlace, { signal }: Signal): Promise<void> {
    const { own, pool, parent } = this.#options;
    await own.acquire(parent.id, { signal });
    // A name of its own: what a kill has left of an earlier copy is not in the way.
    const name = randomUUID().replaceAll('-', '');
    await pool.copyWorkspace(parent.id, { checkpoint: undefined, name, target: workspace, signal });
  }

  /** Before its agent is asked. Resolves with words about the copy for it; rejects with a reason that can be shown. */
  async prepare({ id }: StoredConversation, { signal }: Signal): Promise<string> {
    const { own, pool, parent, committer } = this.#options;
    const branch = branchOf(id);
    const source = await own.acquire(parent.id, { signal });
    const deleted = deletedFiles(checked(await this.#run(source, DELETED_SCRIPT, signal)).text);
    const runtime = await pool.acquire(id, { signal });
    for (const { place, names } of deleted)
      if (names.length > 0)
        await runtime.files.write(inside(runtime, place, DELETED), new TextEncoder().encode(names.map((name) => `${name}\0`).join('')), {
          signal: within(signal),
        });
    checked(await this.#run(runtime, prepareScript(branch, committer()), signal));
    const isRepository = deleted.length > 0;
    return `[You work in a copy of the workspace${isRepository ? `, on the branch ${branch}` : ''}, without its dependencies, caches and files of secrets. When you have ended, what you changed is handed over${isRepository ? ' on that branch, also what you have not committed' : ' as a patch'}.]`;
  }

  /** The report, with where the changes are. Never rejects. */
  async handOver(child: StoredConversation, done: Delegation, { signal }: Signal): Promise<Delegation> {
    if (!done.ok || signal.aborted) return done;
    try {
      if (child.own_copy === 'removed') {
        await this.#remove(child); // a kill may have come before that
        return withWords(done, UNCHANGED);
      }
      const { pool, own, parent, records } = this.#options;
      const runtime = await pool.acquire(child.id, { signal });
      const { title } = (await records.get(child.id)) ?? child; // it was named after its task
      const collected = checked(await this.#run(runtime, collectScript(branchOf(child.id), title), signal));
      if (collected.isCut) throw new Error('git printed too much');
      const changes = readChanges(collected.text);
      if (changes.length === 0) {
        await this.#remove(child);
        return withWords(done, UNCHANGED);
      }
      const target = await own.acquire(parent.id, { signal });
      for (const change of changes) await this.#take(change, { from: runtime, to: target, id: child.id, signal });
      return withChanges(done, changes, child.id);
    } catch (cause) {
      if (signal.aborted) return done;
      const why = cause instanceof Error ? cause.message : String(cause);
      return withWords(done, `Its changes are in the copy of the workspace that it worked in, and could not be handed over: ${why}`);
    }
  }

  async #take(
    { place, tip }: Change,
    { from, to, id, signal }: Signal & { readonly from: Runtime; readonly to: Runtime; readonly id: string },
  ): Promise<void> {
    if (tip === '') return;
    const move = async (source: string, target: string): Promise<void> => {
      const bytes = await from.files.read(source, { signal: within(signal), maxBytes: MAX_BYTES });
      await to.files.write(target, bytes, { signal: within(signal) });
    };
    await to.files.write('.tendon/.gitignore', new TextEncoder().encode('*\n'), { signal: within(signal) });
    if (place === '') return move(PATCH, deliveredTo(id, 'patch'));
    // Not in the place: it is named by the copy, and may be no repository here.
    const file = deliveredTo(id, 'bundle');
    await move(inside(from, place, BUNDLE), file);
    checked(await this.#run(to, takeScript({ place, file, branch: branchOf(id), tip }), signal));
  }

  /** From here on its conversation works in the folder of the one above: first of all, so that a sandbox that begins meanwhile does too. */
  async #remove({ id }: StoredConversation): Promise<void> {
    const { pool, records, parent } = this.#options;
    await records.change(id, () => ({ workspace: parent.workspace, own_copy: 'removed' }));
    await pool.stop(id);
    await removeFolder(ownFolder(this.#options.home, id));
  }

  #run(runtime: Runtime, script: string, signal: AbortSignal): Promise<CommandOutput> {
    const { workspace: cwd } = runtime;
    return runSandboxCommand(runtime, script, {
      cwd,
      timeoutSeconds: GIT_SECONDS,
      maxBytes: MAX_OUTPUT,
      now: this.#options.clock.now(),
      signal,
    });
  }
}

const UNCHANGED = 'It worked in a copy of the workspace and has changed no files; the copy was removed.';

/** What is new in one place of a copy. */
interface Change {
  /** `.`: the workspace itself; empty: files of no repository. */
  readonly place: string;
  /** Empty: what is not handed over, e.g. a stash. */
  readonly tip: string;
  /** Empty: its history is gone. */
  readonly base: string;
  /** The base has more than the workspace had committed. */
  readonly isBaseOwn: boolean;
  readonly stat: string;
}

const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Total: whatever was printed.
 * @internal
 */
export function readChanges(text: string): readonly Change[] {
  const { fields } = nulFields(text, FIELDS * MAX_PLACES);
  const changes: Change[] = [];
  for (let at = 0; at + FIELDS <= fields.length; at += FIELDS) {
    const [, place = '', tip = '', marked = '', stat = ''] = fields.slice(at, at + FIELDS);
    const isBaseOwn = marked.startsWith('+');
    const base = isBaseOwn ? marked.slice(1) : marked;
    const isPlace = !place.includes('/') && place !== '..';
    if (isPlace && (tip === '' ? base === '' || OBJECT.test(base) : OBJECT.test(base) && OBJECT.test(tip)))
      changes.push({ place, tip, base, isBaseOwn, stat });
  }
  return changes;
}

function deletedFiles(text: string): readonly { readonly place: string; readonly names: readonly string[] }[] {
  const { fields } = nulFields(text, MAX_DELETED);
  const places: { place: string; names: string[] }[] = [];
  let isPlace = true;
  for (const field of fields) {
    if (isPlace) places.push({ place: field, names: [] });
    else if (field !== '') places.at(-1)!.names.push(field);
    isPlace = field === '';
  }
  return places;
}

/** Throws with a reason that can be shown. */
function checked(output: CommandOutput): CommandOutput {
  const { exitCode, text } = output;
  if (exitCode === 0) return output;
  if (exitCode === NO_GIT) throw new Error('there is no git in the sandbox');
  if (exitCode === -1) throw new Error(`git took longer than ${GIT_SECONDS} seconds`);
  throw new Error(
    text
      .slice(text.lastIndexOf('\0') + 1)
      .trim()
      .slice(-500) || `git ended with exit code ${exitCode}`,
  );
}

function within(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(FILE_MS)]);
}

function inside({ workspace }: Runtime, place: string, file: string): string {
  return join(workspace, place, file);
}

const SHORT = 8;

function branchOf(id: string): string {
  return `tendon/${id.slice(0, SHORT)}`;
}

function deliveredTo(id: string, type: 'patch' | 'bundle'): string {
  return `.tendon/delegated/${id.slice(0, SHORT)}.${type}`;
}

type Report = Extract<Delegation, { readonly ok: true }>;

function withWords(done: Report, words: string): Report {
  return { ...done, report: `${done.report}\n\n[${words}]` };
}

function withChanges(done: Report, changes: readonly Change[], id: string): Report {
  const branch = branchOf(id);
  const patch = deliveredTo(id, 'patch');
  const words = changes.map((change) => wordsOf(change, { branch, patch }));
  const outputs = {
    ...done.outputs,
    ...(changes.some(({ place, tip }) => place !== '' && tip !== '') && { branch }),
    ...(changes.some(({ place, tip }) => place === '' && tip !== '') && { patch }),
    changed: changes
      .filter(({ tip }) => tip !== '')
      .map(({ place, stat }) => (place === '.' || place === '' ? stat : `${place}/\n${stat}`))
      .join('\n'),
  };
  return withWords({ ...done, outputs }, `It worked in a copy of the workspace.\n${words.join('\n')}`);
}

function wordsOf(
  { place, tip, base, isBaseOwn, stat }: Change,
  { branch, patch }: { readonly branch: string; readonly patch: string },
): string {
  const where = place === '.' ? 'this repository' : `the repository ${place}/`;
  if (base === '')
    return `It has removed the history of ${where} by which its changes could be found: what it has there stays in its copy.`;
  if (tip === '')
    return `Not handed over is what it has left in ${place === '' ? 'its folder' : where} on other branches, on none, or in repositories inside it: that stays in its copy.`;
  if (place === '') return `Its changes to files of no repository are in ${patch}: \`git apply ${patch}\` takes them.\n${stat}`;
  const short = base.slice(0, 12);
  const how = isBaseOwn
    ? `take its commits with \`git cherry-pick ${short}..${branch}\`: ${short} is what was not committed when it began`
    : `take it with \`git merge ${branch}\``;
  return `Its changes are on the branch ${branch} of ${where}: ${how}.\n${stat}`;
}
