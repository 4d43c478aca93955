import { shellQuote } from '@tendon/protocol/executor-api';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * What a session evaluates before a command: each secret becomes a variable, unless the session has one of that name, and is
 * remembered as one to be taken away when the command has ended, however it ends.
 */
export function giveSecrets(secrets: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(secrets ?? {})
    .filter(([name]) => NAME.test(name))
    .map(([name, value]) => `[[ -v ${name} ]] || { builtin export ${name}=${shellQuote(value)}; __tendon_secrets+=' ${name}'; }`)
    .join('\n');
}
