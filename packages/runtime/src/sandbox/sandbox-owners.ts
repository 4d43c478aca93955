/** Which conversations a server may do something for, where several servers share them. Nothing here is durable. */
export interface SandboxOwners {
  /** This server has the conversation, as far as it knows without asking. */
  has(conversationId: string): boolean;
  /** This server has it, or no server that is alive does. */
  mayTouch(conversationId: string): Promise<boolean>;
  /** Sent with every request to its executor, which refuses a smaller one than it has seen; 0 where there can be no other owner. */
  epochOf(conversationId: string): number;
}

/** Of a server that shares its conversations with no other. */
export const ONLY_OWNER: SandboxOwners = { has: () => true, mayTouch: async () => true, epochOf: () => 0 };
