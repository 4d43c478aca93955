import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { shellQuote, GIT_BROKER_NAME, type ExecutorShell } from '@tendon/protocol/executor-api';

/**
 * What every shell starts with: nothing asks, pages, wraps or colours for a person who is not there. From the executor's own
 * environment only what describes the place is taken over.
 */
const QUIET: Readonly<Record<string, string>> = {
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: '',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_ROOT_USER_ACTION: 'ignore',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};

/** Without a network, so that a refusal shows at once and not after minutes of trying; pip shows its reason when it tries again. */
const OFFLINE: Readonly<Record<string, string>> = { PIP_RETRIES: '1', npm_config_fetch_retries: '0' };

const TAKEN_OVER = ['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TZ', 'LC_ALL', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'TENDON_SANDBOX'];

export interface EnvironmentOptions {
  readonly shell: string;
  readonly proxyPort: number | undefined;
  readonly isOffline: boolean;
  readonly ofImage?: Readonly<Record<string, string>>;
}

export function shellEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  { shell, proxyPort, isOffline, ofImage = {} }: EnvironmentOptions,
): Record<string, string> {
  const place = TAKEN_OVER.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  const home = own.HOME ?? '/tmp';
  return {
    ...ofImage,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    ...Object.fromEntries(place),
    ...QUIET,
    ...(isOffline && OFFLINE),
    SHELL: shell,
    ...proxyVariables(proxyPort),
  };
}

/**
 * Those that steer a loader wait until the shell stands: what puts it into its namespace and terminal is not of the image, and
 * may run with another libc. `late` = lines of bash.
 */
export function variablesOfImage(all: Readonly<Record<string, string>>): {
  readonly early: Readonly<Record<string, string>>;
  readonly late: string;
} {
  const isLate = ([name]: readonly [string, string]): boolean => name.startsWith('LD_');
  const entries = Object.entries(all);
  const late = entries.filter(isLate).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
  return { early: Object.fromEntries(entries.filter((entry) => !isLate(entry))), late: late.join('') };
}

function proxyVariables(port: number | undefined): Record<string, string> {
  if (port === undefined) return {};
  const url = `http://127.0.0.1:${port}`;
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  const direct = 'localhost,127.0.0.1,::1';
  return { ...Object.fromEntries(names.map((name) => [name, url])), no_proxy: direct, NO_PROXY: direct, NODE_USE_ENV_PROXY: '1' };
}

const HOST = /^[a-z0-9.-]+(:\d{1,5})?$/;

/**
 * Sends git's requests for these hosts through the broker, whichever way their URLs are written, so that git needs no token here.
 * It stands where the system's configuration does: what the user or a repository configures comes after it and wins. Variables
 * for everything that runs inside; none where the file could not be written.
 */
export function writeGitConfig(hosts: readonly string[], home: string | undefined): Readonly<Record<string, string>> {
  const known = hosts.filter((host) => HOST.test(host));
  if (known.length === 0 || home === undefined) return {};
  const folder = join(home, '.cache/tendon');
  const path = join(folder, 'gitconfig');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, `[include]\n\tpath = /etc/gitconfig\n${known.map(sectionFor).join('')}`);
    return { GIT_CONFIG_SYSTEM: path };
  } catch {
    return {}; // git works, without the token
  }
}

function sectionFor(host: string): string {
  const [name = host] = host.split(':');
  const spellings = [`https://${host}/`, `http://${host}/`, `ssh://git@${name}/`, `git@${name}:`];
  return `[url "http://${GIT_BROKER_NAME}/${host}/"]\n${spellings.map((url) => `\tinsteadOf = ${url}\n`).join('')}`;
}

/** What the session's script needs came with bash 4.4 (2016). */
const IS_RECENT = '((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404))';
const DEADLINE_MS = 5000;

/** The bash that commands run in: the place's own, or the one that was brought along where that is missing or too old. */
export function findShell({ program, bundled }: ExecutorShell): string {
  if (bundled === undefined) return program;
  const { status } = spawnSync(program, ['--norc', '--noprofile', '-c', IS_RECENT], { stdio: 'ignore', timeout: DEADLINE_MS });
  return status === 0 ? program : bundled.shell;
}
