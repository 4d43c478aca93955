import type { Clock, KnowledgeSources, Runtime } from '@tendon/core';
import type { SandboxPorts } from '@tendon/runtime';
import { GIT_PRELUDE } from '../git/workspace-changes.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';

type Survey = NonNullable<KnowledgeSources['survey']>;
type Surroundings = Awaited<ReturnType<Survey>>;

/** Looked for on the `PATH`; of the first three the version is asked. */
const PROGRAMS =
  'git python3 node npm pnpm yarn bun deno uv pip poetry go cargo rustc java mvn gradle gcc clang make cmake ruby php dotnet docker rg fd jq curl sqlite3 psql gh';
const MAX_REPOSITORIES = 5;
const MAX_NESTED = 40;
const MAX_CHANGES = 1_000;
const MAX_FIELD = 300;
const MAX_HOSTS = 20;
/** What is slow, a status of a large repository, comes last: what was printed until then counts. */
const TIMEOUT_S = 4;

/** Records of a letter and fields, each ended by a zero byte. What is cheap is printed first. */
const SCRIPT = `${GIT_PRELUDE.replace('command -v git >&3 || exit 127\n', '')}
record() { printf '%s\\0' "$@"; }
system=$(. /etc/os-release; printf %s "$PRETTY_NAME")
record o "\${system:-$(uname -s)}" "$(uname -m)" "$(nproc || getconf _NPROCESSORS_ONLN)"
for program in ${PROGRAMS}; do
  command -v "$program" >&3 || continue
  case $program in git | python3 | node) record p "$program" "$("$program" --version)" ;; *) record p "$program" '' ;; esac
done
find . -mindepth 3 -maxdepth 6 \\( -name node_modules -o -name vendor -o -name 'dist' -o -name '.?*' \\) -prune -o -type f \\( -name AGENTS.md -o -name CLAUDE.md \\) -print |
  LC_ALL=C sort | head -n ${MAX_NESTED} | while IFS= read -r path; do record n "\${path#./}"; done
command -v git >&3 || exit 0
count=0
for dir in . */; do
  cd -- "$root" || exit 0
  if [ "$dir" = . ]; then g rev-parse --is-inside-work-tree >&3 || continue; else [ -e "$dir.git" ] || continue; fi
  cd -- "$dir" || continue
  count=$((count + 1)); [ $count -le ${MAX_REPOSITORIES} ] || break
  record r "$dir" "$(g config --get remote.origin.url)" "$(g symbolic-ref --quiet --short HEAD || g rev-parse --short HEAD)"
  [ -z "$trusts_filters" ] || record s "$dir" "$(g status --porcelain | head -n ${MAX_CHANGES} | awk '/^[?]/ { added++ } END { print NR - added, added + 0 }')"
done
exit 0`;

export interface SurveyOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly ports: Pick<SandboxPorts, 'list'> | undefined;
}

/** What a new colleague would look at first. What the sandbox prints is untrusted: lines are bounded, and control characters are taken out. */
export async function surveyWorkspace(runtime: Runtime, { signal, clock, ports }: SurveyOptions): Promise<Surroundings> {
  const options = { cwd: runtime.workspace, timeoutSeconds: TIMEOUT_S, maxBytes: 64 * 1024, now: clock.now() };
  const [{ text }, served] = await Promise.all([
    // A status may run filters that the repository's configuration names: only where a sandbox holds them.
    runSandboxCommand(runtime, `trusts_filters=${runtime.strength === 'none' ? '' : 1}\n${SCRIPT}`, options),
    ports?.list({ signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_S * 1000)]) }).catch(() => []) ?? [],
  ]);
  const hosts = served.slice(0, MAX_HOSTS).map(({ port }) => [`http://localhost:${port}`, port] as const);
  return { ...surroundingsIn(text, runtime.workspace), hosts: Object.fromEntries(hosts) };
}

interface Found {
  system: string;
  readonly programs: string[];
  readonly nested: string[];
  readonly repositories: Map<string, { readonly name: string; readonly branch: string; state?: string }>;
}

/**
 * Total: whatever was printed, and wherever it was cut.
 * @internal
 */
export function surroundingsIn(text: string, workspace: string): Omit<Surroundings, 'hosts'> {
  const fields = text.split('\0').map(plain)[Symbol.iterator]();
  const next = (): string => fields.next().value ?? '';
  const found: Found = { system: '', programs: [], nested: [], repositories: new Map() };
  for (let letter = next(); letter !== ''; letter = next()) if (!take(letter, next, found)) break;
  const repositories = [...found.repositories].slice(0, MAX_REPOSITORIES);
  const [first] = repositories;
  return {
    repository: first && { name: first[1].name, folder: folderOf(first[0], workspace), branch: first[1].branch },
    facts: [
      ...repositories.map(
        ([folder, { name, branch, state }]) => `Git: ${name} in ${folderOf(folder, workspace)}, on ${branch || 'no branch'}${state ?? ''}`,
      ),
      ...(found.system ? [`System: ${found.system}`] : []),
      ...(found.programs.length > 0 ? [`Programs: ${found.programs.join(', ')}`] : []),
    ],
    nested: found.nested.slice(0, MAX_NESTED),
  };
}

function take(letter: string, next: () => string, found: Found): boolean {
  if (letter === 'o') found.system = systemOf(next(), next(), next());
  else if (letter === 'p') found.programs.push([next(), versionIn(next())].filter(Boolean).join(' '));
  else if (letter === 'n') found.nested.push(next());
  else if (letter === 'r') {
    const folder = next();
    found.repositories.set(folder, { name: nameOf(next(), folder), branch: next() });
  } else if (letter === 's') {
    const repository = found.repositories.get(next());
    const state = stateOf(next());
    if (repository) repository.state = state;
  } else return false;
  return true;
}

function systemOf(name: string, machine: string, processors: string): string {
  return [name, machine, /^\d+$/.test(processors) && `${processors} ${processors === '1' ? 'CPU' : 'CPUs'}`].filter(Boolean).join(', ');
}

function versionIn(words: string): string {
  return /\d[\w.+-]*/.exec(words)?.[0] ?? '';
}

/** Without a name or password that stands in the address. */
function nameOf(remote: string, folder: string): string {
  const path = remote.replace(/^[a-z+]+:\/\/[^/]*\/|^[^/]*:/i, '').replace(/\/$|\.git\/?$/g, '');
  const name = path.split('/').filter(Boolean).slice(-2).join('/');
  return name || (folder === '.' ? 'workspace' : folder.replace(/\/$/, ''));
}

function stateOf(counts: string): string {
  const [, changed, added] = (/^(\d{1,6}) (\d{1,6})$/.exec(counts) ?? []).map(Number);
  if (changed === undefined || added === undefined) return '';
  if (changed + added === 0) return ', clean';
  return `, ${changed + added >= MAX_CHANGES ? 'more than ' : ''}${changed} changed and ${added} new files`;
}

function folderOf(folder: string, workspace: string): string {
  return folder === '.' ? workspace : `${workspace}/${folder.replace(/\/$/, '')}`;
}

function plain(field: string): string {
  return field
    .slice(0, MAX_FIELD)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}
