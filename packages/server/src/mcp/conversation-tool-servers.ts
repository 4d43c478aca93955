/**
 * Owns the servers of tools that single conversations were made with, in place of the settings'. They lie sealed in the
 * conversation's record, and their keys leave as `Secret` only: what a client is shown never has them.
 */
import type { Secret } from '@tendon/core';
import { McpConfig } from '@tendon/protocol';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { seal, unseal } from '../security/sealed-text.ts';
import { secretsOfMcp, withKeptKeys } from './mcp-keys.ts';

type Sealed = Pick<StoredConversation, 'id' | 'tool_servers'>;

const NONE: McpConfig = { sse_servers: [], stdio_servers: [], shttp_servers: [] };

export class ConversationToolServers {
  readonly #jwtSecret: Secret;
  /** Of the conversations that are open. */
  readonly #keys = new Map<string, readonly Secret[]>();

  constructor(jwtSecret: Secret) {
    this.#jwtSecret = jwtSecret;
  }

  /** For the record of a new conversation. A mask stands for the key that the settings have for the same address or program. */
  sealed(given: McpConfig, settings: McpConfig): string {
    return seal(JSON.stringify(withKeptKeys(given, settings)), this.#jwtSecret);
  }

  /** `undefined`: those of the settings. Its keys are hidden from now on, until `forget`. */
  open(record: Sealed): McpConfig | undefined {
    const config = this.#unsealed(record);
    if (config) this.#keys.set(record.id, secretsOfMcp(config));
    return config;
  }

  forget(id: string): void {
    this.#keys.delete(id);
  }

  get secrets(): readonly Secret[] {
    return [...this.#keys.values()].flat();
  }

  /** Also of one that is not open. */
  secretsOf(record: Sealed): readonly Secret[] {
    return secretsOfMcp(this.#unsealed(record) ?? NONE);
  }

  /** What was sealed under a secret that is gone is none at all, not somebody else's servers. */
  #unsealed({ tool_servers: sealed }: Sealed): McpConfig | undefined {
    if (sealed === undefined) return undefined;
    const text = unseal(sealed, this.#jwtSecret);
    return (text && McpConfig.safeParse(JSON.parse(text)).data) || NONE;
  }
}
