import { OUTPUT_LIMITS, PLUGIN_NAMES, type Limits, type OutputLimits, type PluginName, type IdlePlan } from '@tendon/runtime';
import { z } from 'zod';
import { count, seconds, size, sizeOrNone } from './environment-values.ts';

/** What sandboxes may use, and how long they stay. */
export interface SandboxConfig {
  /** What is not given is as usual. */
  readonly limits: Partial<Limits>;
  /** After so long without an action a sandbox is suspended. */
  readonly idleSeconds: number;
  /** A sandbox ends after so long, whatever it does. Unset: never. */
  readonly maxSeconds: number | undefined;
  /** Sandboxes that run at the same time. */
  readonly maxLive: number;
  /** What they have beside shell and files. */
  readonly plugins: readonly PluginName[];
  /** Names in a person's own workspace that agents may not change. */
  readonly protects: readonly string[];
  /** Whether workspaces are stored before each step that may change them. */
  readonly checkpoints: boolean;
  /** How much of their output is stored, and shown. */
  readonly output: OutputLimits;
  /** A command that prints nothing for so long is handed back as still running. */
  readonly noOutputSeconds: number;
}

const plugins = z
  .string()
  .transform((text) => (text.trim() === 'none' ? [] : [...new Set(text.split(',').map((name) => name.trim()))]))
  .pipe(z.array(z.enum(PLUGIN_NAMES, `expected none, or some of ${PLUGIN_NAMES.join(', ')}, separated by commas`)));

/** What tools of a person run or obey without being asked, by entering or opening a folder. */
const PROTECTED = ['.git', '.vscode', '.idea', '.envrc'];
const protects = z
  .string()
  .transform((text) => (text.trim() === 'off' ? [] : text.split(',').map((name) => name.trim().replace(/\/+$/, ''))))
  .pipe(z.array(z.string().refine(isBelow, 'expected off, or paths below the workspace, separated by commas')));

const MIN_OUTPUT_CHARS = 1000;
const NO_OUTPUT_SECONDS = 10;

/** Each as the environment names it; the second names of some are those of 0.62. */
export const SandboxEnvironment = z.object({
  SANDBOX_MEMORY: size('128m').optional(),
  SANDBOX_PROCESSES: count(32).optional(),
  SANDBOX_CPUS: z.coerce.number('a number is expected').min(0.05, 'at least 0.05 is needed').optional(),
  SANDBOX_FILE_SIZE: size('256m').optional(),
  SANDBOX_OPEN_FILES: count(256).optional(),
  SANDBOX_TMP_SIZE: size('1m').optional(),
  SANDBOX_DISK: sizeOrNone('16m').optional(),
  SANDBOX_IDLE_SECONDS: seconds(1).optional(),
  SANDBOX_CLOSE_DELAY: seconds(1).optional(),
  SANDBOX_MAX_SECONDS: seconds(60).optional(),
  SANDBOX_MAX_LIVE: count(1).optional(),
  MAX_CONCURRENT_CONVERSATIONS: count(1).optional(),
  SANDBOX_OUTPUT_CHARS: z.coerce
    .number('a number is expected')
    .int('a whole number is expected')
    .min(MIN_OUTPUT_CHARS, `at least ${MIN_OUTPUT_CHARS} are needed`)
    .max(OUTPUT_LIMITS.chars, `at most ${OUTPUT_LIMITS.chars}: more no client is given`)
    .default(OUTPUT_LIMITS.chars),
  SANDBOX_OUTPUT_FILE_SIZE: size('1m').optional(),
  SANDBOX_OUTPUT_SIZE: size('1m').optional(),
  SANDBOX_NO_OUTPUT_SECONDS: seconds(1).max(3600, 'at most 3600, an hour').default(NO_OUTPUT_SECONDS),
  SANDBOX_PLUGINS: plugins.default([...PLUGIN_NAMES]),
  SANDBOX_CHECKPOINTS: z.enum(['on', 'off']).default('on'),
  SANDBOX_PROTECTED_PATHS: protects.default(PROTECTED),
});

const IDLE_SECONDS = 900;
const MAX_LIVE = 32;

export function sandboxConfig(values: z.output<typeof SandboxEnvironment>): SandboxConfig {
  const limits = {
    memoryBytes: values.SANDBOX_MEMORY,
    processes: values.SANDBOX_PROCESSES,
    cpus: values.SANDBOX_CPUS,
    fileBytes: values.SANDBOX_FILE_SIZE,
    openFiles: values.SANDBOX_OPEN_FILES,
    tmpBytes: values.SANDBOX_TMP_SIZE,
    diskBytes: values.SANDBOX_DISK,
  };
  return {
    limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
    idleSeconds: values.SANDBOX_IDLE_SECONDS ?? values.SANDBOX_CLOSE_DELAY ?? IDLE_SECONDS,
    maxSeconds: values.SANDBOX_MAX_SECONDS,
    maxLive: values.SANDBOX_MAX_LIVE ?? values.MAX_CONCURRENT_CONVERSATIONS ?? MAX_LIVE,
    plugins: values.SANDBOX_PLUGINS,
    protects: values.SANDBOX_PROTECTED_PATHS,
    checkpoints: values.SANDBOX_CHECKPOINTS === 'on',
    output: outputLimits(values),
    noOutputSeconds: values.SANDBOX_NO_OUTPUT_SECONDS,
  };
}

/** One output always fits among all of them. */
function outputLimits(values: z.output<typeof SandboxEnvironment>): OutputLimits {
  const { SANDBOX_OUTPUT_CHARS: chars, SANDBOX_OUTPUT_SIZE: folder, SANDBOX_OUTPUT_FILE_SIZE: file } = values;
  const folderBytes = folder ?? Math.max(OUTPUT_LIMITS.folderBytes, 2 * (file ?? 0));
  return { chars, fileBytes: Math.min(file ?? OUTPUT_LIMITS.fileBytes, folderBytes), folderBytes };
}

function isBelow(path: string): boolean {
  return path !== '' && !path.includes('\0') && path.split('/').every((part) => !['', '.', '..'].includes(part));
}

export function idlePlan({ idleSeconds, maxSeconds, maxLive }: SandboxConfig): IdlePlan {
  return { idleMs: idleSeconds * 1000, maxMs: maxSeconds === undefined ? Infinity : maxSeconds * 1000, maxLive };
}
