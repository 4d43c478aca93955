import type { RunnableAction } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import type { GitProvider } from '@tendon/protocol';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import type { SecretView } from './secret-store.ts';

const NOTHING: ReadonlyMap<string, Secret> = new Map();
/** Matches the usual ways to read a variable, in the languages that agents write, up to its name. */
const READERS = String.raw`(?:environ|getenv|printenv|process\.env|ENV|Env|env)\b[^\n]{0,12}?\b`;

/**
 * The secrets whose variables a command or cell reads: `$NAME`, `\${NAME}`, `os.environ["NAME"]`, `getenv`, `process.env.NAME` and
 * their like. A command gets no secret that it does not name, so it can only leak what it says it uses.
 */
export function secretsForAction(action: RunnableAction, secrets: ReadonlyMap<string, Secret>): ReadonlyMap<string, Secret> {
  if (secrets.size === 0) return NOTHING;
  const text = textOf(action);
  if (text === '') return NOTHING;
  return new Map([...secrets].filter(([name]) => text.includes(name) && isRead(name, text)));
}

/** Input to a running program is not a command, whatever it contains. */
function textOf({ action, args }: RunnableAction): string {
  if (action === 'run') return args.is_input ? '' : args.command;
  return action === 'run_ipython' ? `${args.kernel_init_code ?? ''}\n${args.code}` : '';
}

/** `name` is a name of the secret store: letters, digits and underscores. */
function isRead(name: string, text: string): boolean {
  return new RegExp(String.raw`\$(?:\{[#!]?)?${name}(?![A-Za-z0-9_])|${READERS}${name}\b`).test(text);
}

/** The variables of the git providers' tokens. */
export const TOKEN_NAMES: Readonly<Record<GitProvider, string>> = {
  github: 'GITHUB_TOKEN',
  gitlab: 'GITLAB_TOKEN',
  bitbucket: 'BITBUCKET_TOKEN',
};

/** The secrets that commands can use by name: named secrets, and git tokens under the variables that git tools read. */
export function namedSecrets(store: Pick<SecretView, 'values'>, tokens: Pick<GitAccounts, 'logins'>): ReadonlyMap<string, Secret> {
  if (tokens.logins.length === 0) return store.values;
  return new Map([...tokens.logins.map(({ provider, token }) => [TOKEN_NAMES[provider], token] as const), ...store.values]);
}
