import { dirname, extname, join } from 'node:path';

/** A program that checks files of a language. It runs none of what lies in the workspace, as far as its settings allow. */
export interface ServerKind {
  /** What is to find it prints a line, or fails. */
  readonly find: string;
  readonly command: string;
  /** `found`: the line. */
  readonly options?: (found: string) => unknown;
  /** It does not notice by itself what commands change. */
  readonly isBlind?: true;
}

export interface Language {
  readonly name: string;
  /** The id of the language, by the end of a file's name. */
  readonly ids: Readonly<Record<string, string>>;
  /** The first that is there is taken. */
  readonly servers: readonly ServerKind[];
}

const script = { '.js': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript', '.jsx': 'javascriptreact' };
const typed = { '.ts': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.tsx': 'typescriptreact' };

/** Not Rust: cargo and rustup, which rust-analyzer asks, run programs that files of the workspace name (`rust-toolchain.toml`, `.cargo/config.toml`). */
const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    ids: { ...typed, ...script },
    servers: [
      {
        find: `case $(tsc --version) in 'Version '[7-9].*|'Version '[1-9][0-9].*) command -v tsc ;; *) false ;; esac`,
        command: 'exec tsc --lsp --stdio',
        isBlind: true,
      },
      {
        // Without the path it would run the compiler that lies in the workspace.
        find: 'command -v typescript-language-server >/dev/null && path=$(command -v tsserver) && readlink -f "$path"',
        command: 'exec typescript-language-server --stdio',
        options: (found) => ({ tsserver: { path: join(dirname(found), '../lib/tsserver.js') } }),
      },
    ],
  },
  {
    name: 'Python',
    ids: { '.py': 'python', '.pyi': 'python' },
    servers: [
      { find: 'command -v pyright-langserver', command: 'exec pyright-langserver --stdio' },
      { find: 'command -v pylsp', command: 'exec pylsp', isBlind: true },
    ],
  },
  { name: 'Go', ids: { '.go': 'go' }, servers: [{ find: 'command -v gopls', command: 'exec gopls', isBlind: true }] },
  {
    name: 'C and C++',
    ids: { '.c': 'c', '.h': 'c', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp', '.hh': 'cpp', '.hpp': 'cpp' },
    servers: [{ find: 'command -v clangd', command: 'exec clangd --background-index=false' }],
  },
];

export function languageOf(path: string): Language | undefined {
  return LANGUAGES.find(({ ids }) => Object.hasOwn(ids, extname(path).toLowerCase()));
}

/** Prints the number of the first server that is there, and its line. */
export function findScript({ servers }: Language): string {
  const tries = servers.map(({ find }, index) => `if found=$(${find}); then echo "${index} $found"; exit; fi`);
  return `exec 2>/dev/null; ${tries.join('; ')}`;
}
