import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Types for editors: a file of a tool imports nothing else of ours, and these are erased. */
const TYPES = `/** What Tendon expects of a tool. Made by "tendon tools new", which writes this file anew. */
export interface Tool<Parameters> {
  /** By which agents call it: a letter, then letters, digits, _ and -. */
  readonly name: string;
  /** What it does and when to call it, for the model. */
  readonly description: string;
  /** JSON Schema of an object; default: there are none. */
  readonly parameters?: Parameters;
  /** Executes one call. What it returns is shown to the model: text as it is, all else as JSON. An error that it throws is shown, too. */
  run(args: ValueOf<Parameters>, context: ToolContext): unknown;
  /** It changes nothing, so calls may run at the same time as others; default: false. */
  readonly readOnly?: boolean;
  /** Others write what it returns (a web page, an e-mail): the model is shown it as no instruction; default: false. */
  readonly outside?: boolean;
  /** Seconds that a call may take, at most 3600; default: 60. */
  readonly timeout?: number;
  /** Names of stored secrets that it is given. */
  readonly secrets?: readonly string[];
}

export interface ToolContext {
  readonly conversationId: string;
  /** The folder that the agent works in; nothing where that is on another machine. What is in it, the agent may have written. */
  readonly workspace?: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** The type of what a JSON Schema, written "as const", describes. */
export type ValueOf<S> = S extends { readonly enum: readonly (infer V)[] }
  ? V
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'number' | 'integer' }
      ? number
      : S extends { readonly type: 'boolean' }
        ? boolean
        : S extends { readonly type: 'array'; readonly items: infer I }
          ? readonly ValueOf<I>[]
          : S extends { readonly type: 'object'; readonly properties: infer P }
            ? { readonly [K in keyof P as K extends Required<S> ? K : never]: ValueOf<P[K]> } & {
                readonly [K in keyof P as K extends Required<S> ? never : K]?: ValueOf<P[K]>;
              }
            : any;

type Required<S> = S extends { readonly required: readonly (infer N)[] } ? N : never;
`;

const toolText = (name: string): string => `import type { Tool } from './tool.d.ts';

const parameters = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What is counted.' } },
  required: ['text'],
} as const;

export default {
  name: '${name}',
  description: 'Counts the words of a text.',
  parameters,
  readOnly: true,
  async run({ text }) {
    return \`\${text.split(/\\s+/).filter(Boolean).length} words\`;
  },
} satisfies Tool<typeof parameters>;
`;

/** Writes a tool to begin with, and the types beside it. Returns its path. Rejects with a user-facing Error where the file is there. */
export async function newTool(home: string, name: string): Promise<string> {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) throw new Error(`${name} cannot be a name: a letter, then letters, digits, _ and -.`);
  const folder = join(home, 'tools');
  const path = join(folder, `${name}.ts`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, toolText(name), { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(cause.code === 'EEXIST' ? `${path} is there already.` : cause.message, { cause });
  });
  await writeFile(join(folder, 'tool.d.ts'), TYPES);
  return path;
}
