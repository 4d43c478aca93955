import { createHash } from 'node:crypto';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';
import { baseScript } from './commit-changes.ts';
import type { ReviewBase } from './review-base.ts';

/** What a path was and is: text, or why it cannot be shown. `undefined`: it was or is not there. */
export interface Versions {
  readonly original: string | undefined;
  readonly modified: string | undefined;
  /** Names the present content. */
  readonly version: string;
}

export type VersionsResult =
  | { readonly state: 'found'; readonly versions: Versions }
  | { readonly state: 'absent' | 'binary' | 'too-large' | 'not-stored' };

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly now: Date;
  /** Where it is compared with a checkpoint that is not the present. */
  readonly until?: number | undefined;
}

const MAX_BYTES = 5 * 1024 * 1024;
const GONE = /^(ENOENT|ENOTDIR)\b/;

/** `path` is one in the workspace. Rejects with a user-facing error. */
export async function fileVersions(workspace: Workspace, base: ReviewBase, path: string, options: ReadOptions): Promise<VersionsResult> {
  const modified =
    options.until === undefined ? await presentContent(workspace, path, options) : await contentAt(workspace, options.until, path, options);
  const original = base.kind === 'now' ? modified : await contentBefore(workspace, base, path, options);
  if (typeof modified === 'string' || typeof original === 'string') return { state: (modified ?? original) as Unreadable };
  if (!modified && !original) return { state: 'absent' };
  if (modified?.includes(0) || original?.includes(0)) return { state: 'binary' };
  const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('utf8');
  return { state: 'found', versions: { original: text(original), modified: text(modified), version: versionOf(modified) } };
}

export function versionOf(content: Uint8Array | undefined): string {
  return content ? createHash('sha256').update(content).digest('base64url') : 'none';
}

type Unreadable = 'too-large' | 'not-stored';
type Content = Uint8Array | undefined | Unreadable;

async function presentContent({ runtime }: Workspace, path: string, { signal }: ReadOptions): Promise<Content> {
  return runtime.files.read(path, { signal, maxBytes: MAX_BYTES }).catch((cause: Error): Content => {
    if (/^more than \d+ bytes/.test(cause.message)) return 'too-large';
    if (!GONE.test(cause.message)) throw cause;
    return undefined;
  });
}

function contentBefore(
  workspace: Workspace,
  base: Exclude<ReviewBase, { kind: 'now' }>,
  path: string,
  options: ReadOptions,
): Promise<Content> {
  if (base.kind === 'checkpoint') return contentAt(workspace, base.checkpoint.number, path, options);
  return committedContent(workspace, base.branch, path, options.now);
}

async function contentAt({ runtime }: Workspace, checkpoint: number, path: string, { signal }: ReadOptions): Promise<Content> {
  const found = await runtime.files.checkpointFile(checkpoint, path, { signal, maxBytes: MAX_BYTES });
  if (found.state === 'file') return Buffer.from(found.content, 'base64');
  if (found.state === 'link') return Buffer.from(found.target);
  if (found.state === 'too-large') return 'too-large';
  return found.state === 'left' ? 'not-stored' : undefined;
}

async function committedContent({ runtime, root }: Workspace, branch: string | undefined, path: string, now: Date): Promise<Content> {
  const options = { cwd: root, timeoutSeconds: 20, maxBytes: MAX_BYTES + 1, now };
  const { text, isCut, exitCode } = await runSandboxCommand(runtime, contentScript(branch, path), options);
  if (exitCode === 127) throw new Error('there is no git in the sandbox');
  if (exitCode === 3) throw new Error('this is in no git repository');
  if (exitCode === 4) return undefined;
  if (exitCode !== 0) throw new Error('git did not answer in time');
  return isCut ? 'too-large' : Buffer.from(text);
}

/** From the nearest folder that is still there: a deleted file's may be gone. */
function contentScript(branch: string | undefined, path: string): string {
  return `${baseScript(branch)}
${ENTER_FOLDER(path)}
base=$(review_base) || exit 4
g cat-file blob "$base:./$rest" || exit 4`;
}

/** Goes to the nearest folder that is there, and has the path from it in `rest`; ends with 3 outside a repository. */
export const ENTER_FOLDER = (path: string): string => `path=${shellQuote(path)}
dir=$(dirname -- "$path"; printf x); dir=\${dir%?x}
while [ ! -d "$dir" ]; do dir=$(dirname -- "$dir"; printf x); dir=\${dir%?x}; done
rest=\${path#"$dir"/}
cd -- "./$dir" || exit 3
g rev-parse --is-inside-work-tree >&3 || exit 3`;
