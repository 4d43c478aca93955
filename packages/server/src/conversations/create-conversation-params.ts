import type { Secret } from '@tendon/protocol/masking';
import type { ConfirmationMode, NetworkParams } from '@tendon/protocol';
import type { Caller } from '../platform/auth/caller.ts';
import type { ReplayAnswer } from '../replay/read-trajectory.ts';

/** The repository that the conversation is about. */
interface ConversationRepository {
  readonly repository?: string | null;
  readonly branch?: string | null;
  readonly gitProvider?: string | null;
}

/** How its agent works. */
interface AgentParams {
  readonly agent?: string;
  /** Empty: the stored settings decide, then the environment. */
  readonly model?: string;
  /** Of this conversation and those that its agent delegates; its record has it sealed. */
  readonly llm?: ModelAccess;
  /** For the agent, beside its task. */
  readonly instructions?: string;
  readonly confirmationMode?: boolean;
  readonly confirmationPolicy?: ConfirmationMode | undefined;
  readonly maxIterations?: number | undefined;
  readonly maxBudgetUsd?: number | undefined;
  /** As `ConversationMcpServers` seals them; default: those of the settings. */
  readonly mcpServers?: string;
}

/** What a client may ask of a new conversation; everything has a default. `by`, by whom, is the server's to say. */
export interface CreateConversationParams extends ConversationRepository, AgentParams {
  /** 32 hexadecimal digits; default: a fresh one. */
  readonly id?: string;
  /** The request that creates it, by its caller's key: the same request, repeated, creates no second conversation. */
  readonly request?: RequestName | undefined;
  readonly directory?: string;
  /** In a copy of that folder; one that would be its own anyway is not copied. */
  readonly worktree?: boolean;
  readonly trigger?: string;
  /** Done again, in order, before the model is asked. */
  readonly replay?: readonly ReplayAnswer[];
  readonly network?: NetworkParams;
  readonly by?: Caller | undefined;
}

export interface RequestName {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** The digest of the request's body. */
  readonly digest: string;
}

export interface ModelAccess {
  readonly apiKey?: Secret;
  readonly baseUrl?: string;
  /** Named by an admin: it may be anywhere. Otherwise the address is where the conversation's sandbox could ask it. */
  readonly isAdmins?: boolean;
}
