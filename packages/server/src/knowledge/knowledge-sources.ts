import type { Clock, KnowledgeSources } from '@tendon/core';
import type { SandboxPool } from '@tendon/runtime';
import { TOKEN_NAMES } from '../secrets/secrets-for-action.ts';
import type { SecretView } from '../secrets/secret-store.ts';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import { surveyWorkspace } from './survey-workspace.ts';
import { userMicroagents } from './user-microagents.ts';
import { installedSkills } from './user-skills.ts';

interface KnowledgeParts {
  readonly home: string;
  readonly clock: Clock;
  readonly secretStore: Pick<SecretView, 'list'>;
  readonly providerTokens: Pick<GitAccounts, 'logins'>;
  readonly runtimes: Pick<SandboxPool, 'ports'>;
  readonly onProblem: (problem: string) => void;
}

/** What the agent of this conversation knows beside the files of its workspace. */
export function knowledgeSources(
  conversationId: string,
  { home, clock, secretStore, providerTokens, runtimes, onProblem }: KnowledgeParts,
): KnowledgeSources {
  return {
    async microagents() {
      const [microagents, skills] = await Promise.all([userMicroagents(home, onProblem), installedSkills(home, onProblem)]);
      return [...microagents, ...skills];
    },
    secrets() {
      const tokens = providerTokens.logins.map(({ provider }) => [TOKEN_NAMES[provider], `the user's token of ${provider}`] as const);
      const named = secretStore.list.custom_secrets.map(({ name, description }) => [name, description ?? ''] as const);
      return Object.fromEntries([...tokens, ...named]);
    },
    survey: (runtime, { signal }) => surveyWorkspace(runtime, { signal, clock, ports: runtimes.ports(conversationId) }),
  };
}
