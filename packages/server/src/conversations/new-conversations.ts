/**
 * Owns how conversations begin: their ids, their first records, and that a repeated request creates none. It does not open them.
 */
import { randomUUID, createHash } from 'node:crypto';
import { join } from 'node:path';
import { KeyedMutex, type ConversationRef, type DelegatedTask, type RecordStore } from '@tendon/core';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { removeFolder } from '@tendon/runtime';
import type { Audit } from '../audit/audit.ts';
import { checkNetworkParams } from './network/conversation-network.ts';
import { depthOf, rootIdOf, type ConversationRecords, type StoredConversation } from './conversation-records.ts';
import type { ConversationRegistry } from './conversation-registry.ts';
import type { CreateConversationParams } from './create-conversation-params.ts';
import { workspaceFolder } from '../sandboxes/workspace-folder.ts';
import { worksReadOnly } from './agents/agent-of.ts';
import { findAgentFile, type AgentPlaces, type FoundAgent } from './agents/find-agent-file.ts';
import { authorOf, type Caller } from '../platform/auth/caller.ts';
import { defaultTitle } from './conversation-titles.ts';

/** `isRepeated`: the same request came before, and created this record. */
export type CreateResult =
  | { readonly ok: true; readonly record: StoredConversation; readonly isRepeated?: true }
  | { readonly ok: false; readonly error: CatalogError };

interface NewConversationsOptions {
  readonly replays: RecordStore;
  readonly places: AgentPlaces;
  readonly usualAgent?: (() => string | undefined) | undefined;
  readonly audit?: Pick<Audit, 'record'> | undefined;
  /** Why this caller may begin nothing now. Default: everybody may. */
  readonly refusal?: ((by: Caller | undefined) => Promise<CatalogError | undefined>) | undefined;
  /** Fills the folder of a conversation that is not there yet with a copy of this one. Rejects with a reason that can be shown. */
  readonly copyFolder: (place: NewPlace, from: string) => Promise<void>;
  /** Called before there is anything of a conversation. Rejects where this server cannot have it. */
  readonly claim: (conversation: ConversationRef) => Promise<void>;
}

const DEFAULT_AGENT = 'CodeActAgent';

export class NewConversations {
  readonly #registry: ConversationRegistry;
  readonly #records: ConversationRecords;
  /** Where the recordings are stored that conversations begin with. */
  readonly #replays: RecordStore;
  /** For conversations whose id comes from a request or a client. */
  readonly #creating = new KeyedMutex();

  readonly #places: AgentPlaces;
  readonly #usualAgent: () => string | undefined;
  readonly #audit: NewConversationsOptions['audit'];
  readonly #refusal: NewConversationsOptions['refusal'];
  readonly #copyFolder: NewConversationsOptions['copyFolder'];
  readonly #claim: NewConversationsOptions['claim'];

  constructor(
    registry: ConversationRegistry,
    { replays, places, usualAgent = () => undefined, copyFolder, claim, audit, refusal }: NewConversationsOptions,
  ) {
    this.#audit = audit;
    this.#claim = claim;
    this.#refusal = refusal;
    this.#copyFolder = copyFolder;
    this.#registry = registry;
    this.#records = registry.records;
    this.#replays = replays;
    this.#places = places;
    this.#usualAgent = usualAgent;
  }

  async create(params: CreateConversationParams = {}): Promise<CreateResult> {
    const id = params.id ?? params.request?.id;
    const refusal = await this.#refusal?.(params.by);
    if (refusal) return { ok: false, error: refusal };
    const made = await (id === undefined ? this.#make(newId(), params) : this.#creating.run(id, () => this.#makeAs(id, params)));
    if (made.ok && !made.isRepeated) await this.#audit?.record({ by: params.by, action: 'conversation.created', target: made.record.id });
    return made;
  }

  /** Where a new conversation will be: nothing is made. */
  async place(): Promise<NewPlace> {
    const id = newId();
    return { id, workspace: join((await this.#registry.roots).own, id) };
  }

  async #makeAs(id: string, params: CreateConversationParams): Promise<CreateResult> {
    const made = params.request && (await this.#records.get(id));
    if (made && made.request?.id === params.request.id) {
      const isSame = made.request.digest === params.request.digest;
      return isSame
        ? { ok: true, record: made, isRepeated: true }
        : { ok: false, error: catalogError('CLIENT_ID_REUSED', 'Idempotency-Key') };
    }
    if (!(await this.#records.reserve(id))) return { ok: false, error: catalogError('CONVERSATION_ID_TAKEN', id) };
    try {
      return await this.#make(id, params);
    } finally {
      this.#records.release(id);
    }
  }

  async #make(id: string, params: CreateConversationParams): Promise<CreateResult> {
    const roots = await this.#registry.rootsNow();
    // Folders of the machine are nobody's organisation's: users get one of the conversation's own.
    const mayName = params.by?.userId === undefined;
    const folder = await workspaceFolder(mayName ? roots : { ...roots, base: undefined, allowed: [] }, id, params.directory);
    if (!folder.ok) return folder;
    const network = checkNetworkParams(this.#registry.networkRules, params.network ?? {});
    if (!network.ok) return network;
    const name = params.agent || this.#usualAgent() || DEFAULT_AGENT;
    const found = await findAgentFile(undefined, name, this.#places);
    // For a name that is not known the record has that name: the conversation begins with the words about it.
    const agent = 'code' in found ? { agent: name, agent_file: undefined } : found;
    const place = params.worktree ? await this.#worktree(id, folder.path, params) : { workspace: folder.path };
    if ('code' in place) return { ok: false, error: place };
    const model_access = params.llm && this.#registry.modelKeys.sealed(params.llm);
    const now = this.#records.now();
    const record = newRecord(id, params, { ...place, network: network.network, ...agent, now, model_access });
    await this.#claim({ id, rootId: id });
    this.#registry.modelKeys.hold(record);
    if (params.replay) await this.#replays.put('replays', { id, sort: '', value: params.replay });
    await this.#records.add(record);
    return { ok: true, record: 'code' in found ? await this.#withAgentOfWorkspace(record) : record };
  }

  /** A copy of the folder, and that its agent is to know it. A folder that nobody else has needs none. */
  async #worktree(id: string, from: string, { instructions }: CreateConversationParams): Promise<OwnPlace | CatalogError> {
    const workspace = join((await this.#registry.roots).own, id);
    if (from === workspace) return { workspace };
    try {
      await this.#copyFolder({ id, workspace }, from);
      return { workspace, instructions: [instructions, IN_COPY].filter(Boolean).join('\n\n') };
    } catch (cause) {
      return catalogError('RUNTIME_FAILED', cause instanceof Error ? cause.message : String(cause));
    }
  }

  /**
   * Files of a workspace are read in its sandbox, which belongs to a record: so there is one first. A repository is cloned when the
   * conversation is opened; its agents can be chosen from then on.
   */
  async #withAgentOfWorkspace(record: StoredConversation): Promise<StoredConversation> {
    const { id, agent } = record;
    const found = await findAgentFile(record, agent, this.#places);
    const changed = 'code' in found ? undefined : await this.#records.change(id, () => found);
    if (changed && worksReadOnly(changed)) await this.#places.runtimes.remount?.(id);
    return changed ?? record;
  }

  /**
   * The conversation in which another agent does a part of this one's work, in its folder and under its settings; the same one when it is
   * called again for the same action.
   */
  async delegate(parent: StoredConversation, params: DelegateParams): Promise<StoredConversation> {
    const { id, made } = await this.#delegatedAs(parent, params.actionId);
    if (made) return made;
    // A copy takes its time, and a client that chooses its ids may choose this one meanwhile.
    const record = await this.#creating.run(id, async () =>
      (await this.#records.get(id)) ? undefined : this.#makeDelegated(parent, id, params),
    );
    return record ?? this.delegate(parent, params);
  }

  async #makeDelegated(parent: StoredConversation, id: string, params: DelegateParams): Promise<StoredConversation> {
    const { actionId, copy, ...agent } = params;
    const { modelKeys } = this.#registry;
    const place = copy && (await this.#copied(parent, id, copy));
    const asOfNow = { ...parent, ...(await this.#ownership(parent)), model_access: modelKeys.sealedOf(parent) };
    const record = delegatedRecord(asOfNow, { id, ...agent, actionId, place, now: this.#records.now() });
    await this.#claim({ id, rootId: rootIdOf(parent) });
    modelKeys.hold(record);
    await this.#records.add(record);
    // It may have changed until there was one to change with it.
    const owned = await this.#ownership(parent);
    const isSame = owned.is_private === record.is_private && owned.created_by?.name === record.created_by?.name;
    return isSame ? record : ((await this.#records.change(id, () => owned)) ?? record);
  }

  /** Whose a conversation is, and who sees it, now: the record of an open one is that of its opening. */
  async #ownership(parent: StoredConversation): Promise<Pick<StoredConversation, 'created_by' | 'is_private'>> {
    const { created_by, is_private } = (await this.#records.get(parent.id)) ?? parent;
    return { ...(created_by && { created_by }), ...(is_private !== undefined && { is_private }) };
  }

  /** A kill in between leaves a folder without a record: it goes when the work is delegated again, or with the conversation above. */
  async #copied(parent: StoredConversation, id: string, copy: NonNullable<DelegateParams['copy']>): Promise<NewPlace> {
    const place = { id, workspace: join((await this.#registry.roots).own, id) };
    await this.#records.announceDelegated(parent.id, id);
    await removeFolder(place.workspace);
    try {
      await copy(place);
      if (!(await this.#records.get(parent.id))) throw new Error('the conversation that asked for it was deleted');
      return place;
    } catch (cause) {
      await removeFolder(place.workspace);
      throw cause;
    }
  }

  /** The one that was made for this action; `undefined` when it was not asked for yet. */
  async findDelegated(parent: StoredConversation, { actionId }: Pick<DelegatedTask, 'actionId'>): Promise<StoredConversation | undefined> {
    return (await this.#delegatedAs(parent, actionId)).made;
  }

  async #delegatedAs(parent: StoredConversation, actionId: number): Promise<{ readonly id: string; readonly made?: StoredConversation }> {
    // Where clients may choose ids, somebody may have taken one of these.
    for (let attempt = 0; ; attempt += 1) {
      const id = delegatedId(parent.id, actionId, attempt);
      const made = await this.#records.get(id);
      if (!made) return { id };
      const { conversation_id: by, action_id: action } = made.delegated_by ?? {};
      if (by === parent.id && action === actionId) return { id, made };
    }
  }
}

interface OwnPlace {
  readonly workspace: string;
  readonly instructions?: string;
}

const IN_COPY =
  'The workspace is a copy that was made for this conversation, with its git history and without its dependencies, caches and files of secrets. Where it is a repository, commit what is to be taken over on a branch of its own.';

/** The id of a conversation that is not there yet, and the folder of its own. */
export interface NewPlace {
  readonly id: string;
  readonly workspace: string;
}

function newId(): string {
  return randomUUID().replaceAll('-', '');
}

/** What the parameters came to: the folder, and the network where one was given. */
interface ResolvedParams extends FoundAgent, OwnPlace {
  readonly network: StoredConversation['network'];
  readonly model_access: string | undefined;
  readonly now: string;
}

function newRecord(
  id: string,
  params: CreateConversationParams,
  { workspace, network, agent, agent_file, now, model_access, instructions = params.instructions }: ResolvedParams,
): StoredConversation {
  return {
    id,
    title: defaultTitle(id),
    created_at: now,
    updated_at: now,
    workspace,
    agent,
    ...(agent_file && { agent_file }),
    model: params.model ?? '',
    trigger: params.trigger ?? 'gui',
    selected_repository: params.repository ?? null,
    selected_branch: params.branch ?? null,
    git_provider: params.gitProvider ?? null,
    ...(params.confirmationMode !== undefined && { confirmation_mode: params.confirmationMode }),
    ...(params.confirmationPolicy && { confirmation_policy: params.confirmationPolicy }),
    ...(params.maxIterations !== undefined && { max_iterations: params.maxIterations }),
    ...(params.maxBudgetUsd !== undefined && { max_budget_usd: params.maxBudgetUsd }),
    ...(instructions && { instructions }),
    ...(params.network && { network }),
    ...(params.request && { request: params.request }),
    ...ownedBy(params.by),
    ...(params.mcpServers !== undefined && { tool_servers: params.mcpServers }),
    ...(model_access !== undefined && { model_access }),
  };
}

/** To whom a new conversation belongs; nothing where the owner of the server created it. */
export function ownedBy(by: Caller | undefined): Pick<StoredConversation, 'organisation_id' | 'created_by' | 'created_with'> {
  const author = authorOf(by);
  if (!author) return by?.key === undefined ? {} : { created_with: by.key };
  return { ...(by?.organisationId && { organisation_id: by.organisationId }), created_by: author };
}

/** The same for the same action, so that one asked again after a crash is found. */
function delegatedId(parentId: string, actionId: number, attempt: number): string {
  return createHash('sha256').update(`${parentId}:${actionId}:${attempt}`).digest('hex').slice(0, 32);
}

export interface DelegateParams extends FoundAgent, Pick<DelegatedTask, 'actionId'> {
  /** Fills a folder of its own; default: it works in the same folder. Where this rejects, nothing is made. */
  readonly copy?: ((place: NewPlace) => Promise<void>) | undefined;
}

interface DelegatedRecordParams extends Omit<DelegateParams, 'copy'> {
  readonly id: string;
  readonly place: NewPlace | undefined;
  readonly now: string;
}

/** In the folder, or a copy, and under the settings of the one that asks; a repository is there already. */
function delegatedRecord(
  parent: StoredConversation,
  { id, agent, agent_file, actionId, place, now }: DelegatedRecordParams,
): StoredConversation {
  const {
    summary: _summary,
    repository_ready: _ready,
    pr_number: _pulls,
    request: _request,
    network_questions: _questions,
    agent_file: _file,
    agent_changed: _changed,
    agent_before: _before,
    own_copy: _copy,
    confirmation_rules: _rules, // its own begin empty: those of its parent hold in it as they are then
    ...inherited
  } = parent;
  const depth = depthOf(parent) + 1;
  return {
    ...inherited,
    stopped: false,
    selected_repository: null,
    rules_repository: parent.rules_repository ?? parent.selected_repository,
    ...(place && { workspace: place.workspace, own_copy: 'used' as const }),
    id,
    agent,
    ...(agent_file && { agent_file }),
    ...(worksReadOnly(parent) && { read_only: true as const }),
    title: defaultTitle(id),
    created_at: now,
    updated_at: now,
    delegated_by: {
      conversation_id: parent.id,
      action_id: actionId,
      ...(depth > 1 && { root: { conversation_id: rootIdOf(parent), depth } }),
    },
  };
}
