/**
 * Owns what is known of conversations before any is opened: their records, which are open, where each may work and connect, and the keys
 * that came with `initialize`. It creates, opens and ends none, so sandboxes can ask it before there is one.
 */
import { randomUUID } from 'node:crypto';
import type { Clock, Storage } from '@tendon/core';
import { catalogError, type CatalogError, type VolatileFrame } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import type { NetworkPolicy } from '@tendon/runtime';
import type { Logger } from '../platform/logger.ts';
import { grantedFolders } from '../sandboxes/granted-folders.ts';
import { outsideRoots, workspaceRoots, type FolderRules, type WorkspaceRoots } from '../sandboxes/workspace-roots.ts';
import { worksReadOnly } from './agents/agent-of.ts';
import { ConversationRecords, rootIdOf, type StoredConversation } from './conversation-records.ts';
import { networkPolicy, type NetworkRules } from './network/conversation-network.ts';
import { NetworkQuestions } from './network/network-questions.ts';
import { ModelKeys } from './model-keys.ts';
import type { OpenConversation } from './open-conversations.ts';

export interface RegistryOptions {
  readonly config: FolderRules;
  /** Default: every network policy is allowed. */
  readonly network?: NetworkRules;
  /** Opens a name to the sandboxes of all conversations, durably. Default: nobody can. */
  readonly allowAlways?: (host: string) => Promise<CatalogError | undefined>;
  /** How long a connection that a person is asked about waits for the answer. */
  readonly questionWaitMs?: number;
  readonly storage: Pick<Storage, 'records'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: none is read by the next server. */
  readonly modelKeys?: ModelKeys;
}

/** Shorter than the silence after which a command is handed back as still running, and than the timeouts of package managers. */
const QUESTION_WAIT_MS = 8_000;
const EVERYWHERE: NetworkRules = { network: { mode: 'full', allow: [], allowPrivate: [] }, isPoliced: true };
const NOWHERE: NetworkPolicy = { mode: 'none', allow: [], allowPrivate: [] };

export class ConversationRegistry {
  readonly records: ConversationRecords;
  /** `OpenConversations` maintains it. */
  readonly open = new Map<string, OpenConversation>();
  /** Those of single conversations. */
  readonly modelKeys: ModelKeys;
  /** By conversation that is being made: the folder of which it gets a copy. Until it has a record, its sandbox works there. */
  readonly copied = new Map<string, string>();
  /** What sandboxes ask of a person. */
  readonly questions: NetworkQuestions;
  readonly networkRules: NetworkRules;
  /** Of the configuration alone. */
  readonly roots: Promise<WorkspaceRoots>;
  readonly #home: string;

  constructor({ config, network = EVERYWHERE, allowAlways, questionWaitMs, storage, clock, logger, modelKeys }: RegistryOptions) {
    this.records = new ConversationRecords(storage.records, clock);
    this.modelKeys = modelKeys ?? new ModelKeys(new Secret(randomUUID()));
    this.networkRules = network;
    this.roots = workspaceRoots(config);
    this.#home = config.home;
    this.questions = new NetworkQuestions({
      records: this.records,
      open: this.open,
      clock,
      logger,
      waitMs: questionWaitMs ?? QUESTION_WAIT_MS,
      policyOf: (record) => networkPolicy(network, record.network),
      allowAlways: allowAlways ?? (async () => catalogError('NOT_IMPLEMENTED', 'a list of all conversations')),
    });
  }

  /** Of the configuration, and what the owner of the home has given to agents by now. */
  async rootsNow(): Promise<WorkspaceRoots> {
    const [roots, granted] = await Promise.all([this.roots, grantedFolders(this.#home)]);
    return { ...roots, allowed: [...roots.allowed, ...granted] };
  }

  /** Its folder, and how it is mounted, if this machine allows it; `undefined`: no such conversation. Rejects with a user-facing error. */
  async workspaceOf(id: string): Promise<{ readonly hostPath: string; readonly isReadOnly: boolean } | undefined> {
    const copied = this.copied.get(id);
    if (copied !== undefined) return { hostPath: copied, isReadOnly: false };
    const record = await this.records.get(id);
    const refusal = record && outsideRoots(record.workspace, await this.rootsNow());
    if (refusal !== undefined) throw new Error(refusal);
    if (record === undefined) return undefined;
    const isCloned = record.selected_repository === null || record.repository_ready !== undefined;
    return { hostPath: record.workspace, isReadOnly: isCloned && worksReadOnly(record) };
  }

  /** Where its sandbox may connect to, as of now. */
  async networkOf(id: string): Promise<NetworkPolicy> {
    const record = await this.records.get(id);
    return record ? this.policyOf(record) : NOWHERE;
  }

  /** To what was allowed to the one that delegated it, too. */
  async policyOf(record: StoredConversation): Promise<NetworkPolicy> {
    const own = networkPolicy(this.networkRules, record.network);
    const root = record.delegated_by && (await this.records.get(rootIdOf(record)));
    return { ...own, allow: [...new Set([...own.allow, ...(root?.network?.allow ?? [])])] };
  }

  /** Shown to those who look at it; nobody looks at one that is not open. */
  announce(id: string, frame: VolatileFrame): void {
    this.open.get(id)?.announce(frame);
  }

  /** Clients stay ready for the next message: it wakes the sandbox. */
  announceSuspended(id: string): void {
    const message = 'The sandbox is suspended; the next action resumes it where it was.';
    this.announce(id, { volatile: 'status', type: 'info', id: 'STATUS$READY', message });
  }

  /** Shows watchers that something in the set-up does not work, and why. */
  sayProblem(id: string, message: string): void {
    this.announce(id, { volatile: 'status', type: 'error', id: 'STATUS$ERROR', message });
  }
}
