import type { Secret } from '@tendon/protocol/masking';
import type { NetworkParams } from '@tendon/protocol';
import type { ReplayAnswer } from '../replay/read-trajectory.ts';

/** What a client may ask of a new conversation; everything has a default. */
export interface CreateConversationParams {
  /** 32 hexadecimal digits; default: a fresh one. */
  readonly id?: string;
  /** The request that creates it, by its caller's key: the same request, repeated, creates no second conversation. */
  readonly request?: RequestName | undefined;
  readonly directory?: string;
  readonly agent?: string;
  /** Empty: the stored settings decide, then the environment. */
  readonly model?: string;
  readonly trigger?: string;
  readonly repository?: string | null;
  readonly branch?: string | null;
  readonly gitProvider?: string | null;
  readonly confirmationMode?: boolean;
  readonly maxIterations?: number;
  /** For the agent, beside its task. */
  readonly instructions?: string;
  /** Done again, in order, before the model is asked. */
  readonly replay?: readonly ReplayAnswer[];
  /** Of this conversation only, and gone with this process. */
  readonly llm?: ModelAccess;
  readonly network?: NetworkParams;
  /** As `ConversationMcpServers` seals them; default: those of the settings. */
  readonly mcpServers?: string;
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
