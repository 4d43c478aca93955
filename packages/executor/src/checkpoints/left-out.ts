/** What checkpoints do not store, by its name alone. A restore changes and removes none of it. */

/** Histories of version control, what a command makes again (large, and nobody's work), and what the server puts there itself. */
const FOLDERS = new Set([
  ...['.git', '.hg', '.svn', '.jj', '.tendon'],
  ...['node_modules', 'bower_components', '.pnpm-store', '.yarn', '.venv', 'venv', '__pycache__', '.tox', '.nox', '.gradle', '.terraform'],
  ...['.mypy_cache', '.pytest_cache', '.ruff_cache', '.cache', '.parcel-cache', '.turbo', '.next', '.nuxt', '.svelte-kit'],
]);

/** Where a file of this name is, its folder is a cache by the convention of bford.info/cachedir. */
export const CACHE_TAG = 'CACHEDIR.TAG';

/** Files that commonly hold keys and passwords: a second copy would outlive the first. */
const SECRETS = [
  /^\.env(?:\..+)?$/i,
  /^\.envrc$/i,
  /^\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/i,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini))?$/i,
];
/** These are templates, and belong to the work. */
const TEMPLATE = /\.(?:example|sample|template|dist)$/i;

export function isSecretName(name: string): boolean {
  return !TEMPLATE.test(name) && SECRETS.some((pattern) => pattern.test(name));
}

export function isRemade(name: string): boolean {
  return FOLDERS.has(name);
}
