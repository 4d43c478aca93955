import { realpath } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { ConversationInfo, Rest } from '@tendon/client';
import { grantFolder, hasRemoteSandboxes, type Config } from '@tendon/server/headless';
import { AttachedServer } from '../attach/attached-server.ts';
import { findConversation } from '../attach/home-server.ts';
import type { TaskChoices } from '../run/task-place.ts';
import { localTime } from '../terminal/local-time.ts';
import { printable } from '../terminal/printable.ts';
import { ChatSession } from './chat-session.ts';

export interface RunChat extends TaskChoices {
  readonly config: Config;
  readonly notices: readonly string[];
  /** For a server that is started. */
  readonly env: NodeJS.ProcessEnv;
  /** `data:` URLs that go with the first message. */
  readonly imageUrls: readonly string[];
  /** The newest conversation in this folder, one by its id, or one that is chosen from the list. */
  readonly goOn?: { readonly newest: true } | { readonly id: string } | { readonly choose: true } | undefined;
}

/** A chat in this terminal, until the person leaves. Rejects with an Error whose message can be shown. */
export async function runChat({ config, notices, env, goOn, imageUrls, ...choices }: RunChat): Promise<void> {
  for (const notice of notices) process.stderr.write(`${notice}\n`);
  const directory =
    hasRemoteSandboxes(config.runtime) || config.workspaceBase === undefined ? undefined : await realpath(config.workspaceBase);
  const server = await AttachedServer.attach(config, env);
  if (directory !== undefined) await grantFolder(config.home, directory).catch(() => undefined); // the server reports it
  const { rest } = server;
  const conversation = goOn && (await chosen(rest, directory, goOn));
  const { model = '', sandbox } = await rest.options.serverInfo();
  const name = choices.model ?? model;
  const session = new ChatSession({ server, directory, choices, conversation, imageUrls });
  const about = [name === 'demo' ? 'demo model' : name, sandbox?.strength, directory ?? 'a folder of its own'];
  const pictures =
    imageUrls.length === 0
      ? ''
      : `\n${imageUrls.length === 1 ? 'The picture goes' : `${imageUrls.length} pictures go`} with your first message.`;
  const first =
    name === 'demo' ? '\nNo model is set up yet: /setup asks for one and its key. Until then a scripted demonstration answers.' : '';
  await session.run(`${['Tendon', ...about].filter(Boolean).map((part) => printable(String(part))).join(' · ')}      /help${first}${pictures}\n`); // prettier-ignore
}

const LISTED = 20;

async function chosen(rest: Rest, directory: string | undefined, goOn: NonNullable<RunChat['goOn']>): Promise<string> {
  if ('id' in goOn) return (await findConversation(rest, goOn.id)).conversation_id;
  const { results } = await rest.conversations.list({ limit: LISTED, ...('newest' in goOn && directory !== undefined && { directory }) });
  if (results.length === 0)
    throw new Error('newest' in goOn ? 'There is no conversation in this folder yet.' : 'There is no conversation yet.');
  const newest = results.toSorted((a, b) => b.last_updated_at.localeCompare(a.last_updated_at));
  return 'newest' in goOn ? newest[0]!.conversation_id : choose(newest);
}

async function choose(conversations: readonly ConversationInfo[]): Promise<string> {
  for (const [index, { title, last_updated_at: at }] of conversations.entries())
    process.stdout.write(`${String(index + 1).padStart(3)}  ${localTime(at)}  ${printable(title)}\n`);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question('Which one? ');
  lines.close();
  const found = conversations[Number(answer) - 1];
  if (!found) throw new Error('There is no such number in the list.');
  return found.conversation_id;
}
