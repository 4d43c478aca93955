/** Which server drives a conversation: the one in this process, unless several share a storage. */

/** A server of those that share a storage. */
export interface ServerNode {
  /** New with each lease: a server that stood down comes back under another one. */
  readonly id: string;
  /** Where other servers reach it, e.g. `http://10.0.0.5:3000`. */
  readonly url: string;
  /** False for a gateway, and for a server that is about to leave: new conversations go to others. */
  readonly takesConversations: boolean;
  /** How many conversations it has open. */
  readonly load: number;
}

/** Where a conversation is. `nowhere`: no server that is alive has it; who claims it has it. */
export type Place = { readonly at: 'here' } | { readonly at: 'peer'; readonly server: ServerNode } | { readonly at: 'nowhere' };

/** A conversation and the one at the top of those that delegated to each other; a group has one owner. */
export interface ConversationRef {
  readonly id: string;
  readonly rootId: string;
}

/** Says where conversations are, for those who only ask. */
export interface Placement {
  /** This server; `undefined` where it has no peers, and everything is here. */
  readonly self: ServerNode | undefined;
  /** Those that are alive, this one among them. */
  servers(): Promise<readonly ServerNode[]>;
  /** By the owner of its group. What is here is known without asking; what another server has may have moved a moment ago. */
  find(id: string): Promise<Place>;
  /** Those that are not in it are nowhere. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Place>>;
}

/** What a server does when conversations come to it, and when all of them have left it. */
export interface SchedulerHandlers {
  /** Goes on with conversations whose server has ended; the next ones are taken when this resolves. */
  wake(ids: readonly string[]): Promise<void>;
  /** Others have taken over: closes every conversation, and nothing more is written of any. */
  standDown(): Promise<void>;
  /** How many conversations are open. */
  load(): number;
}

/**
 * Decides which server drives a conversation. The log is the fence: an append is refused to every server but the owner, whatever it
 * believes.
 */
export interface Scheduler extends Placement {
  /** Makes this server the owner of the conversation's group, unless another one that is alive is. */
  claim(conversation: ConversationRef): Promise<Place>;
  /** Gives conversations up, for others to take; with them what they delegated. Default: all that this server has. */
  release(rootIds?: readonly string[]): Promise<void>;
  /** Grows with each change of a conversation's owner; 0 where nobody else can have it. */
  epochOf(id: string): number;
  /** From now on other servers know of this one, and it takes over what others leave. */
  start(handlers: SchedulerHandlers): void;
  /** This server takes no new conversations any more, and none that others leave. What it has is the caller's to release. */
  retire(): Promise<void>;
}

/** Of a process that shares its storage with no other. */
export const IN_PROCESS: Scheduler = {
  self: undefined,
  servers: async () => [],
  find: async () => ({ at: 'here' }),
  findAll: async (ids) => new Map(ids.map((id) => [id, { at: 'here' }])),
  claim: async () => ({ at: 'here' }),
  release: async () => undefined,
  epochOf: () => 0,
  start: () => undefined,
  retire: async () => undefined,
};
