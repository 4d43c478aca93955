import type { Clock, Storage } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { SandboxRuntimes } from '@tendon/runtime';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { EventSearch } from '../events/event-search.ts';
import type { ProviderTokens } from '../git-providers/provider-tokens.ts';
import type { ConversationMcpServers } from '../mcp/conversation-mcp-servers.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { TokenStores } from '../platform/auth/token-stores.ts';
import type { SettingsStore } from '../settings/settings.ts';
import type { ProbedSandbox } from '../sandboxes/open-driver.ts';

/** Everything that works without HTTP. The server and the command line stand on it alike. */
export interface Engine {
  readonly clock: Clock;
  readonly storage: Storage;
  readonly runtimes: SandboxRuntimes;
  readonly conversations: Conversations;
  readonly eventSearch: EventSearch;
  readonly settings: SettingsStore;
  /** Named by the user, for agents. */
  readonly secretStore: SecretStore;
  readonly providerTokens: ProviderTokens;
  /** Those that conversations were made with. */
  readonly mcpServers: ConversationMcpServers;
  /** Keys, links and sessions that were handed out. */
  readonly access: TokenStores;
  readonly sandbox: ProbedSandbox;
  readonly agents: readonly string[];
  /** Names of models that clients can choose. */
  models(): Promise<readonly string[]>;
  /** The model of a conversation that chose none, as of now. */
  defaultModel(): string;
  /** The model that the next turn of this conversation asks. */
  modelOf(record: StoredConversation): string;
  /** Everything that must not be printed, as of now. */
  secrets(): readonly Secret[];
  /** Signs the tokens of clients that keep one. */
  readonly jwtSecret: Secret;
  /** Once, when the server listens: finds sandboxes again, and goes on with what was at work. */
  wake(): Promise<void>;
  /** Lets appends finish and leaves the sandboxes to the next one. */
  close(): Promise<void>;
}
