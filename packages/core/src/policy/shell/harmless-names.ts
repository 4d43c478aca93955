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
  'LINES',
  'NODE_ENV',
  'NO_COLOR',
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONUNBUFFERED',
  'RUST_BACKTRACE',
  'TERM',
  'TZ',
]);

/** In other character sets the shell reads the bytes of a later line as other characters. */
const LOCALES = new Set(['LANG', 'LC_ALL', 'LC_COLLATE', 'LC_CTYPE']);
const IS_LOCALE = /^(?:|C|POSIX|[\w.]+\.utf-?8)$/i;

/** Lower-case names are those of scripts, but for a few that programs read. `value`: undefined where it is known only when it runs. */
export function isHarmlessAssignment(name: string, value: string | undefined): boolean {
  if (LOCALES.has(name)) return value !== undefined && IS_LOCALE.test(value);
  return (
    HARMLESS.has(name) || (/^[a-z][a-z0-9_]*$/.test(name) && !/proxy$|^(?:npm|pnpm|yarn|pip|cargo)_|^histchars$|^auto_resume$/.test(name))
  );
}
