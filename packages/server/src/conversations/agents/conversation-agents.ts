/**
 * Owns which agent and which model work in a conversation, and changes both between turns. An open conversation holds the record with which
 * it was opened; what was changed since is here.
 *
 * CON1  What the record says is durable before the sandbox that mounts the workspace another way ends.
 * CON2  While the agent works nothing changes: no action runs under another agent than the one that asked for it.
 */
import { isPlanApproval, type AgentFile, type Conversation, type Runtimes } from '@tendon/core';
import { catalogError, SuccessObservation, type ActionDraft, type CatalogError } from '@tendon/protocol';
import type { ConversationRecords, OtherModels, StoredConversation } from '../conversation-records.ts';
import type { OpenConversations } from '../open-conversations.ts';
import { worksReadOnly } from './agent-of.ts';
import { findAgentFile, userAgents, type AgentPlaces, type FoundAgent } from './find-agent-file.ts';

type Chosen = Pick<StoredConversation, 'agent' | 'agent_file' | 'agent_changed' | 'model' | 'other_models'>;

/** `null` takes back what was chosen. */
export type OtherModelsChange = { readonly [K in keyof OtherModels]?: OtherModels[K] | null };

/** Of the log's end: more than a question and what comes with it. */
const TAIL = 20;
const USUAL: FoundAgent = { agent: 'CodeActAgent' };

export class ConversationAgents {
  readonly #records: ConversationRecords;
  readonly #open: OpenConversations;
  readonly #places: AgentPlaces;
  readonly #runtimes: Runtimes;
  readonly #chosen = new Map<string, Chosen>();

  constructor(records: ConversationRecords, open: OpenConversations, places: AgentPlaces) {
    this.#records = records;
    this.#open = open;
    this.#places = places;
    this.#runtimes = places.runtimes;
  }

  /** The record with the agent and the model of the next turn. */
  now(record: StoredConversation): StoredConversation {
    return { ...record, ...this.#chosen.get(record.id) };
  }

  /** The user's own. */
  own(): Promise<readonly AgentFile[]> {
    return userAgents(this.#places);
  }

  /** For a part of this one's work. */
  find(record: StoredConversation, name: string): Promise<FoundAgent | CatalogError> {
    return findAgentFile(record, name, this.#places);
  }

  /** From the next turn on. `undefined`: no such conversation. */
  async setModel(id: string, model: string): Promise<StoredConversation | undefined> {
    const record = await this.#records.change(id, ({ agent_file: file }) => ({ model, ...(file && { agent_file: withoutModel(file) }) }));
    if (record) this.#remember(record);
    return record;
  }

  /** Beside the model, from the next turn on. `undefined`: no such conversation. */
  async setOtherModels(id: string, change: OtherModelsChange): Promise<StoredConversation | undefined> {
    const record = await this.#records.change(id, ({ other_models }) => ({
      other_models: Object.fromEntries(Object.entries({ ...other_models, ...change }).filter(([, value]) => value !== null)),
    }));
    if (record) this.#remember(record);
    return record;
  }

  /** From the next turn on. `undefined`: no such conversation. */
  async setAgent(id: string, name: string): Promise<StoredConversation | CatalogError | undefined> {
    const record = await this.#records.get(id);
    const found = record && (await this.find(record, name));
    return !found || 'code' in found ? found : this.#change(record, found);
  }

  /** A person who approves the plan of an agent that changes nothing gets the one that worked before it, or the usual one. */
  async approve(record: StoredConversation, action: ActionDraft, { log }: Conversation): Promise<CatalogError | undefined> {
    if (action.action !== 'message' || this.now(record).agent !== 'PlanAgent' || record.delegated_by) return undefined;
    const events = await log.read({ from: Math.max(0, log.nextId - TAIL) });
    if (!isPlanApproval(events, action.args.content)) return undefined;
    const changed = await this.#change(record, record.agent_before ?? USUAL);
    return changed && 'code' in changed ? changed : undefined;
  }

  /** Default: of all. Another server may have them, and change them. */
  forget(id?: string): void {
    if (id === undefined) this.#chosen.clear();
    else this.#chosen.delete(id);
  }

  async #change(record: StoredConversation, { agent, agent_file }: FoundAgent): Promise<StoredConversation | CatalogError | undefined> {
    const { id } = record;
    if (agent === record.agent && agent_file === undefined && record.agent_file === undefined) return record;
    const next = { ...record, agent, agent_file };
    const isRemounted = worksReadOnly(record) !== worksReadOnly(next);
    const refusal = worksReadOnly(next) ? this.#refusal(record) : undefined;
    if (refusal) return refusal;
    const held = await this.#open.enter(id);
    if (!held) return undefined;
    try {
      const { conversation } = held.open;
      if (conversation.isAtWork) return catalogError('ILLEGAL_STATE', 'it is at work; pause it, then choose another agent');
      const before = agent === 'PlanAgent' ? { agent: record.agent, agent_file: record.agent_file } : undefined;
      const changed = await this.#records.change(id, () => ({ agent, agent_file, agent_changed: true, agent_before: before }));
      if (!changed) return undefined;
      this.#remember(changed);
      if (isRemounted) await this.#runtimes.remount?.(id);
      const words = wordsOf(changed, isRemounted);
      await conversation.note(() => [{ source: 'environment', ...SuccessObservation.create(words, {}) }]);
      return changed;
    } finally {
      held.release();
    }
  }

  #refusal({ selected_repository: repository, repository_ready: ready }: StoredConversation): CatalogError | undefined {
    if (!this.#runtimes.mountsReadOnly)
      return catalogError(
        'INVALID_ARGUMENTS',
        'agent: sandboxes of this server cannot mount a workspace read-only, which this agent needs',
      );
    return repository && ready === undefined ? catalogError('ILLEGAL_STATE', 'its repository is not there yet') : undefined;
  }

  #remember({ id, agent, agent_file, agent_changed, model, other_models }: StoredConversation): void {
    this.#chosen.set(id, { agent, agent_file, ...(agent_changed && { agent_changed }), model, ...(other_models && { other_models }) });
  }
}

function withoutModel({ model: _model, ...file }: AgentFile): AgentFile {
  return file;
}

function wordsOf(record: StoredConversation, isRemounted: boolean): string {
  const mount = worksReadOnly(record) ? 'The workspace is mounted read-only.' : 'The workspace can be changed again.';
  return [`From here on ${record.agent} works in this conversation.`, ...(isRemounted ? [mount] : [])].join(' ');
}
