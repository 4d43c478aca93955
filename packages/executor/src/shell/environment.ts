import { shellQuote } from '@tendon/protocol/executor-api';

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

/** Without a network, so that a refusal is told at once and not after minutes of trying; pip says its reason when it tries again. */
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
