import type { WireEvent } from '@tendon/testing/servers';
import { expect } from 'vitest';
import type { Expected } from './rule-case.ts';

/** What a cell's content ends with for the model. */
const PLACE = /\n?(\[Jupyter current working directory: .*\]\n\[Jupyter Python interpreter: .*\])$/;

/** An observation in the words of the table. */
export function seenOf(event: WireEvent & { readonly success?: boolean }): Expected {
  const { observation = '', content = '', extras = {}, success } = event;
  const metadata = (extras.metadata ?? {}) as Readonly<Record<string, unknown>>;
  const isCell = observation === 'run_ipython';
  return {
    observation,
    content: isCell ? content.replace(PLACE, '') : content,
    ...(isCell && { place: PLACE.exec(content)?.[1] ?? '' }),
    ...(observation === 'run' && {
      exitCode: metadata.exit_code as number,
      prefix: metadata.prefix as string,
      suffix: metadata.suffix as string,
      folder: metadata.working_dir as string | null,
    }),
    ...(success !== undefined && { success }),
    extras,
  };
}

/** For `toMatchObject`: patterns match texts. */
export function matcherOf(expected: Expected): Record<string, unknown> {
  return matchers(expected) as Record<string, unknown>;
}

function matchers(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, matchers(part)]));
}
