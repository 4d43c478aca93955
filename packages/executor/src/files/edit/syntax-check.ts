import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { shellQuote } from '@tendon/protocol/executor-api';
import type { Place } from '../../shell/shell-memory.ts';
import { killGroup, spawnDetached, type DetachedOptions } from '../../shell/detached-process.ts';

/** What is wrong with a text as a file of this name, in the parser's words; nothing when it parses or has no parser here. */
export type SyntaxCheck = (path: string, text: string) => Promise<string | undefined>;

/** A parser that is missing, or fails otherwise, has another exit code. */
const FAULT = 65;
const DEADLINE_MS = 10_000;
const MAX_WORDS = 2000;

const python = (parse: string, errors: string): string => String.raw`command -v python3 >/dev/null || exit 0
exec python3 -I -c '
import sys
try:
    ${parse}
except ImportError:
    sys.exit(0)
except ${errors} as error:
    sys.stderr.write(str(error) + "\n")
    sys.exit(${FAULT})
' "$1"`;
const tool = (name: string, call: string): string => `command -v ${name} >/dev/null || exit 0; ${call} || exit ${FAULT}`;

const PYTHON = python('import ast; ast.parse(open(sys.argv[1], "rb").read())', '(SyntaxError, ValueError)');
const NODE = tool('node', 'node --check "$1"');
const BASH = tool('bash', 'bash -n "$1"');

/** By the end of the name. They parse and run nothing of the file. */
const PARSERS: Readonly<Record<string, string>> = {
  '.py': PYTHON,
  '.pyi': PYTHON,
  '.js': NODE,
  '.mjs': NODE,
  '.cjs': NODE,
  '.sh': BASH,
  '.bash': BASH,
  '.yaml': python('import yaml; list(yaml.parse(open(sys.argv[1], "rb")))', 'yaml.YAMLError'),
  '.yml': python('import yaml; list(yaml.parse(open(sys.argv[1], "rb")))', 'yaml.YAMLError'),
  '.toml': python('import tomllib; tomllib.load(open(sys.argv[1], "rb"))', '(ValueError)'),
  '.rb': tool('ruby', 'ruby -c "$1"'),
  '.php': tool('php', 'php -l "$1"'),
  '.go': tool('gofmt', 'gofmt -e "$1" >/dev/null'),
};

/** Parsers of the sandbox, run as the agent's own programs; JSON is parsed here. */
export function createSyntaxCheck(shell: () => Promise<{ readonly place: () => Place; readonly detached: DetachedOptions }>): SyntaxCheck {
  return async (path, text) => {
    const extension = extname(path).toLowerCase();
    if (extension === '.json') return jsonFault(text);
    const parser = PARSERS[extension];
    if (parser === undefined) return undefined;
    const folder = await mkdtemp(join(tmpdir(), 'tendon-check-'));
    try {
      const copy = join(folder, nameFor(path, extension, text));
      await writeFile(copy, text);
      const { place, detached } = await shell();
      const fault = await run(parser, copy, place(), detached);
      return fault?.replaceAll(copy, path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** Node recognizes modules by the name when it only checks. */
function nameFor(path: string, extension: string, text: string): string {
  return extension === '.js' && /^\s*(?:import\b[^(]|export\b)/m.test(text) ? 'module.mjs' : basename(path);
}

function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function run(parser: string, copy: string, place: Place, detached: DetachedOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawnDetached(detached, place, `set -- ${shellQuote(copy)}; ${parser}`, undefined, 'pipe');
    const timer = setTimeout(() => killGroup(child, 'SIGKILL'), DEADLINE_MS);
    let words = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(0, MAX_WORDS)));
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === FAULT ? words.trim() || 'it does not parse' : undefined);
    });
  });
}
