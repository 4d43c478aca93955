import type { HookMoment } from '@tendon/core';
import { z } from 'zod';

/** A program of the user's, and when it is asked. */
export interface ConfiguredHook {
  readonly name: string;
  readonly moment: HookMoment;
  /** Names of actions and tools with `*` for any letters, as written; default: each. */
  readonly match: string | undefined;
  readonly command: string;
  readonly timeoutMs: number;
  /** A hook that fails or takes too long then counts as one that blocks. */
  readonly blocksOnFailure: boolean;
  /** Where it runs. */
  readonly folder: string;
  /** Beside the few variables that each hook is given. */
  readonly env: Readonly<Record<string, string>>;
}

const hook = z.strictObject({
  name: z
    .string()
    .trim()
    .regex(/^[\w .:-]{1,64}$/)
    .optional(),
  command: z.string().trim().min(1).max(4000),
  timeout: z.number().int().min(1).max(600).default(60),
});
const withFail = { fail: z.enum(['go_on', 'block']).default('go_on') };
const withMatch = { match: z.string().trim().min(1).max(500).optional() };
const onMoments = z.array(hook.extend(withFail)).max(50);

const HookFile = z.strictObject({
  hooks: z.strictObject({
    session_start: onMoments.optional(),
    before_action: z
      .array(hook.extend({ ...withFail, ...withMatch }))
      .max(50)
      .optional(),
    // What is done cannot be blocked.
    after_action: z.array(hook.extend(withMatch)).max(50).optional(),
    stop: onMoments.optional(),
    before_compaction: onMoments.optional(),
  } satisfies Record<HookMoment, z.ZodType>),
});

export type HookPlace = Pick<ConfiguredHook, 'folder' | 'env'>;

/** In the order of the file. Throws an Error that says what is wrong with it. */
export function parseHookFile(json: unknown, place: HookPlace): readonly ConfiguredHook[] {
  const read = HookFile.safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'it is not valid'}`);
  }
  return Object.entries(read.data.hooks).flatMap(([moment, hooks]) =>
    hooks.map(({ name, command, timeout, ...more }) => ({
      name: name ?? command.split(/\s/, 1)[0]!.slice(0, 64),
      moment: moment as HookMoment,
      match: 'match' in more ? more.match : undefined,
      command,
      timeoutMs: timeout * 1000,
      blocksOnFailure: 'fail' in more && more.fail === 'block',
      ...place,
    })),
  );
}

/** `names`: what the action is called. */
export function isAbout({ match }: Pick<ConfiguredHook, 'match'>, names: readonly string[]): boolean {
  if (match === undefined) return true;
  return match.split('|').some((pattern) => {
    const parts = pattern.trim().split('*').map(escaped);
    return names.some((name) => new RegExp(`^${parts.join('.*')}$`, 's').test(name));
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
