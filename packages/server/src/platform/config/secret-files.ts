import { readFile } from 'node:fs/promises';

/** `NAME_FILE` names a file that holds the value of `NAME`: so that secrets need not be in an environment, which many can see. */
const SECRETS_IN_FILES = ['TENDON_DATABASE_URL', 'JWT_SECRET', 'SESSION_API_KEY', 'LLM_API_KEY', 'SANDBOX_API_KEY'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

type WithSecrets = { readonly ok: true; readonly env: Environment } | { readonly ok: false; readonly problems: readonly string[] };

/** An empty file counts as an empty value, which is none. Never throws, and never names what a file holds. */
export async function withSecretFiles(env: Environment): Promise<WithSecrets> {
  const problems: string[] = [];
  const read: Record<string, string> = {};
  for (const name of SECRETS_IN_FILES) {
    const path = env[`${name}_FILE`]?.trim();
    if (!path) continue;
    if (env[name]?.trim()) {
      problems.push(`${name}_FILE: ${name} is set too; leave one of them out`);
      continue;
    }
    const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => cause);
    if (text instanceof Error) problems.push(`${name}_FILE: ${path} cannot be read (${text.code})`);
    else read[name] = text.trim();
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, env: { ...env, ...read } };
}
