import {
  RestoreCheckpointAction,
  WriteAction,
  catalogError,
  type CatalogError,
  type RevertChange,
  type RevertedChange,
} from '@tendon/protocol';
import { shellQuote } from '@tendon/protocol/executor-api';
import type { Caller } from '../platform/auth/caller.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';
import { actAsUser, runAsUser } from './act-as-user.ts';
import { baseScript } from './commit-changes.ts';
import { ENTER_FOLDER, fileVersions, versionOf, type Versions, type VersionsResult } from './file-versions.ts';
import type { ReviewBase } from './review-base.ts';

interface RevertParts {
  readonly conversations: Pick<Conversations, 'submit' | 'log'>;
  readonly id: string;
  readonly workspace: Workspace;
  readonly base: Exclude<ReviewBase, { kind: 'now' }>;
  readonly signal: AbortSignal;
  readonly now: Date;
  readonly by: Caller;
}

export type RevertResult =
  | { readonly state: 'reverted'; readonly change: RevertedChange }
  | { readonly state: 'refused'; readonly error: CatalogError }
  | { readonly state: 'changed' }
  | { readonly state: Exclude<VersionsResult['state'], 'found'> };

/** Longer texts are not written by way of the log. */
const MAX_WRITTEN_CHARS = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** A file, or one hunk of it, as it was at the base: an action of the person's. `change.path` is one in the workspace. */
export async function revertChange(parts: RevertParts, { path, version, hunk }: RevertChange): Promise<RevertResult> {
  const found = await fileVersions(parts.workspace, parts.base, path, parts);
  if (found.state !== 'found')
    return hunk || found.state === 'absent' || found.state === 'not-stored' ? found : reverted(parts, path, await wholeFile(parts, path));
  if (version !== undefined && version !== found.versions.version) return { state: 'changed' };
  if (!hunk) return reverted(parts, path, await wholeFile(parts, path));
  const content = withoutHunk(found.versions, hunk);
  if (content === undefined) return { state: 'changed' };
  if (typeof content !== 'string') return { state: 'binary' };
  if (content.length > MAX_WRITTEN_CHARS) return { state: 'too-large' };
  const outcome = await actAsUser(
    parts.conversations,
    parts.id,
    WriteAction.create({ path: `${parts.workspace.root}/${path}`, content }),
    parts.by,
  );
  if ('code' in outcome) return { state: 'refused', error: outcome };
  const { observation, eventId } = outcome;
  if (observation.observation === 'error') return { state: 'refused', error: catalogError('RUNTIME_FAILED', observation.content) };
  return reverted(parts, path, eventId);
}

/** The event that did it. */
async function wholeFile(parts: RevertParts, path: string): Promise<number | CatalogError> {
  const { conversations, id, base, workspace, by } = parts;
  if (base.kind === 'commit') {
    const command = await commandFor(workspace, base.branch, path, parts.now);
    const outcome = await runAsUser(conversations, id, { command, cwd: workspace.root, by });
    if ('code' in outcome) return outcome;
    return outcome.exit_code === 0 ? outcome.event_id : catalogError('RUNTIME_FAILED', outcome.output);
  }
  const action = RestoreCheckpointAction.create({ checkpoint: base.checkpoint.number, what: 'files', paths: [path] });
  const outcome = await actAsUser(conversations, id, action, by);
  if ('code' in outcome) return outcome;
  const { observation, eventId } = outcome;
  return observation.observation === 'restore_checkpoint'
    ? eventId
    : catalogError('RUNTIME_FAILED', 'content' in observation ? observation.content : '');
}

/** In words of git, so that the log says what was done. Rejects with a user-facing error. */
async function commandFor({ runtime, root }: Workspace, branch: string | undefined, path: string, now: Date): Promise<string> {
  const script = `${baseScript(branch)}
${ENTER_FOLDER(path)}
base=$(review_base) || exit 4
g cat-file -e "$base:./$rest" && there=yes
printf '%s\\0' "$base" "$there" "$dir" "$rest"`;
  const { text, exitCode } = await runSandboxCommand(runtime, script, { cwd: root, timeoutSeconds: 20, maxBytes: 64 * 1024, now });
  const [base = '', there, dir = '', rest = ''] = text.split('\0');
  if (exitCode !== 0 || !/^[0-9a-f]{40,64}$/.test(base)) throw new Error('git did not say what the file was');
  if (there !== 'yes') return `rm -f -- ${shellQuote(path)}`;
  return `git --literal-pathspecs -C ${shellQuote(dir)} restore --source=${base} --worktree -- ${shellQuote(rest)}`;
}

/** What restoring would take back what this event did: the newest that is not later. */
async function reverted({ workspace, signal }: RevertParts, path: string, event: number | CatalogError): Promise<RevertResult> {
  if (typeof event !== 'number') return { state: 'refused', error: event };
  const { checkpoints } = await workspace.runtime.files.checkpoints({ signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  const before = checkpoints.find(({ actionId }) => actionId <= event);
  return { state: 'reverted', change: { event_id: event, undo: before ? { checkpoint: before.number, paths: [path] } : null } };
}

/**
 * The text without one hunk. `undefined` where there are no such lines; `false` where the content, or what would come back, is no UTF-8
 * and would be changed by writing it.
 * @internal
 */
export function withoutHunk(
  { original = '', modified, version }: Versions,
  hunk: NonNullable<RevertChange['hunk']>,
): string | false | undefined {
  if (modified === undefined) return undefined;
  if (versionOf(Buffer.from(modified)) !== version) return false;
  const before = linesOf(original);
  const lines = linesOf(modified);
  const [old, now] = [hunk.old, hunk.new].map(({ start, count }) => ({ from: start - 1, to: start - 1 + count })) as [Span, Span];
  if (old.to > before.length || now.to > lines.length) return undefined;
  const back = before.slice(old.from, old.to);
  // What stands for bytes that are no text came from reading them.
  if (back.some((line) => line.includes('\uFFFD'))) return false;
  return [...lines.slice(0, now.from), ...back, ...lines.slice(now.to)].join('');
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Each with its end. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
