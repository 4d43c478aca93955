import type { Clock, Conversation, Runtimes } from '@tendon/core';
import { ErrorObservation } from '@tendon/protocol';
import type { SandboxesConfig } from '../../platform/config/config.ts';
import type { StoredConversation } from '../../conversations/conversation-records.ts';
import { worksReadOnly } from '../../conversations/agents/agent-of.ts';
import type { Conversations } from '../../conversations/conversations.ts';
import type { GitAccounts } from '../../git-providers/provider-tokens.ts';
import type { SettingsStore } from '../../settings/settings.ts';
import { readRepository } from '../../git-providers/repository-source.ts';
import { withRepository } from './with-repository.ts';

export interface RepositoryParts {
  readonly config: Pick<SandboxesConfig, 'clone' | 'runtime'>;
  readonly providerTokens: Pick<GitAccounts, 'set'>;
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly conversations: Pick<Conversations, 'noteRepository' | 'agents'>;
  readonly clock: Clock;
  /** The conversation that is being opened. */
  readonly opened: Promise<Conversation>;
}

/** Who commits in sandboxes, unless git is configured there. */
export function committerOf({ current }: Pick<SettingsStore, 'current'>): { readonly name: string; readonly email: string } {
  return { name: current?.git_user_name || 'tendon', email: current?.git_user_email || 'tendon@localhost' };
}

/** The conversation's sandboxes, with its repository where it has one. */
export function repositoryOf(runtimes: Runtimes, record: StoredConversation, parts: RepositoryParts): Runtimes {
  const { selected_repository: repository, selected_branch: branch, git_provider: provider } = record;
  if (repository === null || repository === undefined) return runtimes;
  const { config, settings, clock } = parts;
  const read = readRepository({ repository, branch, provider }, parts.providerTokens);
  const problem = read.ok ? unsandboxed(config) : read.problem;
  if (!read.ok || problem !== undefined) {
    if (record.repository_ready === undefined) void sayOnce(parts, record.id, `The repository was not cloned: ${problem}.`);
    return runtimes;
  }
  return withRepository(runtimes, {
    source: read.source,
    limits: config.clone,
    user: committerOf(settings),
    now: () => clock.now(),
    ready: record.repository_ready,
    isReadOnly: () => worksReadOnly(parts.conversations.agents.now(record)),
    saveReady: (incarnation) => parts.conversations.noteRepository(record.id, incarnation),
    note: async (drafts) => (await parts.opened).note(drafts),
  });
}

function unsandboxed({ runtime }: Pick<SandboxesConfig, 'runtime'>): string | undefined {
  return runtime === 'none'
    ? 'without a sandbox (RUNTIME=none) Tendon lets no git of its own into a workspace; ask the agent to clone it'
    : undefined;
}

/** The record stores that it was reported. */
async function sayOnce({ opened, conversations }: RepositoryParts, id: string, words: string): Promise<void> {
  try {
    await (
      await opened
    ).note(() => [{ source: 'environment', ...ErrorObservation.create(words, { error_id: 'STATUS$ERROR_REPOSITORY' }) }]);
    await conversations.noteRepository(id, 'none');
  } catch {
    // The storage failed, or the conversation is closed: it is reported when it is opened next.
  }
}
