/**
 * Variables whose value decides nothing about what runs. All others may: `PATH`, `LD_PRELOAD`, `BASH_ENV`, `GIT_SSH_COMMAND`,
 * `NODE_OPTIONS`, `PAGER`, `http_proxy` and many that nobody has listed.
 */
const HARMLESS = new Set([
  'CI',
  'COLUMNS',
  'DEBIAN_FRONTEND',
  'DEBUG',
  'FORCE_COLOR',
  'GIT_TERMINAL_PROMPT',
  'LANG',
  'LC_ALL',
  'LC_COLLATE',
  'LC_CTYPE',
  'LINES',
  'NODE_ENV',
  'NO_COLOR',
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONUNBUFFERED',
  'RUST_BACKTRACE',
  'TERM',
  'TZ',
]);

/** Lower-case names are those of scripts, but for a few that programs read. */
export function isHarmlessName(name: string): boolean {
  return HARMLESS.has(name) || (/^[a-z][a-z0-9_]*$/.test(name) && !/proxy$|^npm_|^pip_|^cargo_|^histchars$|^auto_resume$/.test(name));
}
