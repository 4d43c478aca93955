/**
 * Owns the MCP servers that single conversations were made with, in place of the settings'. They lie sealed in the
 * conversation's record, and their keys leave as `Secret` only: what a client is shown never has them.
 */
import type { Secret } from '@tendon/protocol/masking';
import { McpConfig } from '@tendon/protocol';
import { z } from 'zod';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import { seal, unseal } from '../platform/auth/stored-secret.ts';
import { secretsOfMcp, withStoredKeys } from '../settings/mcp-keys.ts';

type SealedRecord = Pick<StoredConversation, 'id' | 'tool_servers'>;

const SealedServers = z.strictObject({ config: McpConfig, isAdmins: z.boolean() });
type SealedServers = z.output<typeof SealedServers>;
/** Of versions that did not store who had named them. */
const OldSealedServers = McpConfig.transform((config): SealedServers => ({ config, isAdmins: false }));

const NONE: McpConfig = { sse_servers: [], stdio_servers: [], shttp_servers: [] };

export class ConversationMcpServers {
  readonly #jwtSecret: Secret;
  readonly #onChange: () => void;
  /** Of the conversations that are open. */
  readonly #keys = new Map<string, readonly Secret[]>();

  /** `onChange`: called in the tick of each change of what is hidden. */
  constructor(jwtSecret: Secret, onChange = (): void => undefined) {
    this.#jwtSecret = jwtSecret;
    this.#onChange = onChange;
  }

  /** For the record of a new conversation. A mask stands for the key that the settings have for the same address or program. */
  sealed(given: McpConfig, settings: McpConfig, { isAdmins }: Pick<SealedServers, 'isAdmins'>): string {
    return seal(JSON.stringify({ config: withStoredKeys(given, settings), isAdmins } satisfies SealedServers), this.#jwtSecret);
  }

  /** `undefined`: those of the settings. Its keys are hidden from now on, until `forget`. */
  open(record: SealedRecord): McpConfig | undefined {
    const config = this.#unsealed(record)?.config;
    if (config) {
      this.#keys.set(record.id, secretsOfMcp(config));
      this.#onChange();
    }
    return config;
  }

  /** Whether they are asked wherever they are: otherwise they are where the conversation's sandbox could ask them. */
  isAdmins(record: SealedRecord): boolean {
    return this.#unsealed(record)?.isAdmins ?? false;
  }

  forget(id: string): void {
    if (this.#keys.delete(id)) this.#onChange();
  }

  get secrets(): readonly Secret[] {
    return [...this.#keys.values()].flat();
  }

  /** Also of one that is not open. */
  secretsOf(record: SealedRecord): readonly Secret[] {
    return secretsOfMcp(this.#unsealed(record)?.config ?? NONE);
  }

  /** What was sealed under a secret that is gone is none at all, not somebody else's servers. */
  #unsealed({ tool_servers: sealed }: SealedRecord): SealedServers | undefined {
    if (sealed === undefined) return undefined;
    const text = unseal(sealed, this.#jwtSecret);
    const read = z.union([SealedServers, OldSealedServers]).safeParse(text && JSON.parse(text));
    return read.data ?? { config: NONE, isAdmins: false };
  }
}
