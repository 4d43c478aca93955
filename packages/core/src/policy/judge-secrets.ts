/** Whether an action would take a secret to a host that it is not for, as far as the action shows it. Pure. */
import type { ActionDraft } from '@tendon/protocol';
import { mayGoTo, wrongHost, type BoundSecret } from '@tendon/protocol/masking';
import { baseName } from './match-program.ts';
import { hostsIn } from './paths.ts';
import { readCommandLine, type Program } from './shell/read-command-line.ts';

export interface SecretJudgement {
  readonly decision: 'ask' | 'deny';
  /** One sentence without a full stop. */
  readonly reason: string;
}

/** Undefined where nothing is seen against it. */
export function judgeSecrets(action: ActionDraft, secrets: readonly BoundSecret[]): SecretJudgement | undefined {
  if (secrets.length === 0) return undefined;
  switch (action.action) {
    case 'run':
      return judgeProgram(action.args.command, secrets, () => namedHosts(action.args.command));
    case 'run_ipython':
      return judgeProgram(action.args.code, secrets, () => addressHosts(action.args.code));
    case 'browse':
      return judgeUrl(action.args.url, secrets);
    case 'browse_interactive':
      return judgeBrowser(action.args.browser_actions, secrets);
    case 'call_tool_mcp':
      return judgeTool(JSON.stringify(action.args.arguments), secrets);
    default:
      return undefined;
  }
}

/** It is given the variables that it names; where it sends them is seen only in the hosts that it names beside them. */
function judgeProgram(text: string, secrets: readonly BoundSecret[], hostsOf: () => readonly string[]): SecretJudgement | undefined {
  const used = secrets.filter((secret) => namesVariable(text, secret.name) || holds(text, secret));
  if (used.length === 0) return undefined;
  const hosts = hostsOf();
  for (const secret of used) {
    const other = hosts.find((host) => !mayGoTo(secret, host));
    if (other !== undefined) return { decision: 'ask', reason: wrongHost(secret, other) };
  }
  return undefined;
}

function judgeUrl(url: string, secrets: readonly BoundSecret[]): SecretJudgement | undefined {
  const host = URL.parse(url)?.hostname ?? url;
  const leak = secrets.find((secret) => !mayGoTo(secret, host) && holds(url, secret));
  return leak && { decision: 'deny', reason: wrongHost(leak, host) };
}

/** Which page is open is not in the action. */
function judgeBrowser(text: string, secrets: readonly BoundSecret[]): SecretJudgement | undefined {
  const held = secrets.filter((secret) => holds(text, secret));
  const hosts = addressHosts(text);
  for (const secret of held) {
    const other = hosts.find((host) => !mayGoTo(secret, host));
    if (other !== undefined) return { decision: 'deny', reason: wrongHost(secret, other) };
  }
  const [first] = held;
  return first && hosts.length === 0
    ? { decision: 'ask', reason: wrongHost(first, 'the page that is open, which may be another') }
    : undefined;
}

/** A tool sends what it is given where it likes. */
function judgeTool(text: string, secrets: readonly BoundSecret[]): SecretJudgement | undefined {
  const leak = secrets.find((secret) => holds(text, secret));
  return leak && { decision: 'deny', reason: wrongHost(leak, 'a tool of an MCP server') };
}

function holds(text: string, { mask }: BoundSecret): boolean {
  return mask.text(text) !== text;
}

function namesVariable(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/\w/.test(text[at - 1] ?? '') && !/\w/.test(text[at + name.length] ?? '')) return true;
  }
  return false;
}

/** They take the name of a host without a scheme; where one has options whose value is a file or what is sent, those. */
const NETWORK: ReadonlyMap<string, RegExp | undefined> = new Map([
  [
    'curl',
    /^(?:-[odHFTKwbcuAeXm]|--(?:output|data(?:-[a-z]+)?|json|header|form(?:-string)?|user|oauth2-bearer|request|upload-file|config|cacert|cert|key|cookie))$/,
  ],
  ['wget', /^(?:-[oOUP]|--(?:output-document|output-file|header|post-data|post-file|user|password|user-agent))$/],
  ...['http', 'https', 'httpie', 'xh'].map((name) => [name, /^(?:-[aAo]|--(?:auth|auth-type|output))$/] as const),
  ...['git', 'gh', 'glab'].map((name) => [name, /^-[oFTbcC]$/] as const),
  ...'nc ncat netcat socat telnet ssh scp sftp rsync ftp openssl'.split(' ').map((name) => [name, undefined] as const),
]);
/** Their host is in no argument of its own. */
const BY_REMOTE = new Set(['git', 'gh', 'glab', 'openssl']);
const BARE = /^(?:[^@\s/]{1,200}@)?((?:[\w-]+\.)+[a-z][\w-]*|\d+(?:\.\d+){3})(?=[:/?#]|$)/i;
/** As it is written: it begins with what is known only when it runs. */
const OPEN = /^["']?(?:[^@\s/]{1,200}@)?[$`]/;
const MAX_HOST_CHARS = 600;
/** Stands for a name that is known only when it runs: no secret is for it. */
const UNKNOWN_HOST = 'a host that is known only when it runs';

function namedHosts(command: string): readonly string[] {
  return [...addressHosts(command), ...readCommandLine(command).programs.flatMap(hostsOfProgram)];
}

function hostsOfProgram({ name, args }: Program): readonly string[] {
  const program = baseName(name);
  if (!NETWORK.has(program)) return [];
  const valued = NETWORK.get(program);
  return args.flatMap(({ text, known, raw }, index) => {
    if (text.startsWith('-') || valued?.test(args[index - 1]?.text ?? '')) return [];
    if (known === 'unknown') return !BY_REMOTE.has(program) && OPEN.test(raw.slice(0, MAX_HOST_CHARS)) ? [UNKNOWN_HOST] : [];
    const bare = BARE.exec(text.slice(0, MAX_HOST_CHARS))?.[1];
    return bare === undefined ? hostsIn(text.slice(0, MAX_HOST_CHARS)) : [bare.toLowerCase()];
  });
}

/** Behind `://` and in `/dev/tcp/`, wherever they stand. A name that is known only when it runs is another one. */
function addressHosts(text: string): readonly string[] {
  const found: string[] = [];
  for (const [sign, host] of SIGNS) {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const name = host.exec(text.slice(at + sign.length, at + sign.length + MAX_HOST_CHARS))?.[1];
      if (name !== undefined) found.push(/^(?:[\w.-]+|\[[^\]]*\])$/.test(name) ? name.toLowerCase() : UNKNOWN_HOST);
    }
  }
  return found;
}

/** What stands before `@` ends where the host's place ends; a backslash ends it for some programs alone, so such a name is not known. */
const SIGNS = [
  ['://', /^(?:[^/?#\\\s'"]*@)?(\[[^\]]*\]|[^/:?#@\s'"`)\]}>,;]+|(?=['"]))/],
  ['/dev/tcp/', /^([^/\s'"]+)/],
] as const;
