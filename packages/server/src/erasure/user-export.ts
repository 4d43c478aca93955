/** Exports the data of a user as a zip of JSON, which is streamed. It holds no values of keys, secrets or tokens. */
import { Readable } from 'node:stream';
import { loggedEvents } from '@tendon/core';
import type { UserInfo } from '@tendon/protocol';
import { ZipFile } from 'yazl';
import { allConversations } from '../conversations/all-conversations.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import { userScope } from '../platform/auth/own-scope.ts';
import { keyInfo, type TokenStores } from '../platform/auth/token-stores.ts';
import type { PushDevices } from '../push/push-devices.ts';
import type { OwnedSecrets } from '../secrets/owned-secrets.ts';
import { triggerInfo } from '../triggers/trigger-info.ts';
import type { Triggers } from '../triggers/triggers.ts';

export interface UserExportParts {
  readonly access: TokenStores;
  readonly conversations: Pick<Conversations, 'list' | 'log'>;
  readonly ownedSecrets: OwnedSecrets;
  readonly gitAccounts: OwnedGitAccounts;
  readonly triggers: Pick<Triggers, 'store'>;
  readonly pushDevices: Pick<PushDevices, 'list'>;
}

export function exportOfUser(user: UserInfo, parts: UserExportParts): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (cause: Error) => output.destroy(cause));
  addAll(zip, user, { ...parts, isLeft: () => output.destroyed }).catch((cause: unknown) => output.destroy(cause as Error));
  return output;
}

/** Looking for what a user did reads every log of their organisations, so it ends with its client. */
interface ReadParts extends UserExportParts {
  /** The client has gone. */
  readonly isLeft: () => boolean;
}

async function addAll(zip: ZipFile, user: UserInfo, parts: ReadParts) {
  const { access, conversations, ownedSecrets, gitAccounts, triggers, pushDevices } = parts;
  const add = (name: string, value: unknown): void => zip.addBuffer(Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`), name);
  const scopes = user.organisations.map(({ id }) => userScope(id, user.id));
  add('user.json', user);
  add(
    'keys.json',
    access.keys.list.filter(({ value }) => value.owner?.user === user.id).map((held) => keyInfo(held, access.users)),
  );
  add('secrets.json', Object.fromEntries(scopes.map((scope) => [scope, ownedSecrets.in(scope).list.custom_secrets])));
  add('git-accounts.json', Object.fromEntries(scopes.map((scope) => [scope, gitAccounts.in(scope).set])));
  add('push-devices.json', await pushDevices.list({ userId: user.id, keyName: '', scope: undefined }));
  add('triggers.json', triggers.store.list.filter(({ created_by: by }) => by?.id === user.id).map(triggerInfo));
  for await (const record of allConversations(conversations)) {
    if (parts.isLeft()) break;
    await addConversation(zip, record, user, parts);
  }
  zip.end();
}

/** Adds the whole conversation if the user began it, otherwise only the user's own events. */
async function addConversation(
  zip: ZipFile,
  record: StoredConversation,
  { id: userId, organisations }: UserInfo,
  { conversations, isLeft }: ReadParts,
) {
  if (!organisations.some(({ id }) => id === record.organisation_id)) return;
  const isWhole = record.created_by?.id === userId;
  const log = await conversations.log(record.id);
  if (!log) return;
  const isTheirs = ({ author }: { readonly author?: { readonly id: string } }): boolean => isWhole || author?.id === userId;
  if (!isWhole && !(await hasAny(log, isTheirs, isLeft))) return;
  zip.addReadStreamLazy(`conversations/${record.id}.jsonl`, {}, (done) => done(null, Readable.from(linesOf(record, log, isTheirs))));
}

type Log = NonNullable<Awaited<ReturnType<Conversations['log']>>>;
type IsMeant = (event: { readonly author?: { readonly id: string } }) => boolean;

async function hasAny(log: Log, isMeant: IsMeant, isLeft: () => boolean): Promise<boolean> {
  for await (const event of loggedEvents(log)) {
    if (isLeft()) return false;
    if (isMeant(event)) return true;
  }
  return false;
}

/** The first line describes the conversation; each other line is an event. */
async function* linesOf(
  { id, title, created_at, organisation_id }: StoredConversation,
  log: Log,
  isMeant: IsMeant,
): AsyncGenerator<string> {
  yield `${JSON.stringify({ conversation_id: id, title, created_at, organisation_id })}\n`;
  for await (const event of loggedEvents(log)) if (isMeant(event)) yield `${JSON.stringify(event)}\n`;
}
