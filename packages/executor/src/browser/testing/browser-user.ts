import { existsSync } from 'node:fs';
import type { ObservationDraft } from '@tendon/protocol';
import { inject } from 'vitest';
import { startExecutor, type TestExecutor } from '../../testing/start-executor.ts';

type Extras = ObservationDraft<'browse'>['extras'];

/** What tests look at of an observation. */
export interface BrowserAnswer {
  readonly kind: string;
  readonly content: string;
  readonly extras: Extras;
}

export interface BrowserUser {
  readonly executor: TestExecutor;
  browse(url: string, args?: Record<string, unknown>, timeout?: number): Promise<BrowserAnswer>;
  /** Actions, one an argument. */
  do(...actions: readonly string[]): Promise<BrowserAnswer>;
}

const SHELL = '/usr/lib/chromium/chromium-headless-shell';

/** Names the headless shell in a daily run, which takes half the processor time; the long tests take the Chromium that an agent is given. */
export function chromiumOfRun(): { readonly CHROMIUM_PATH?: string } {
  return inject('effort') === 'daily' && existsSync(SHELL) ? { CHROMIUM_PATH: SHELL } : {};
}

/** An executor whose browser is used as a client would. */
export async function startBrowserUser(...args: Parameters<typeof startExecutor>): Promise<BrowserUser> {
  const executor = await startExecutor(...args);
  const act = async (...request: Parameters<TestExecutor['act']>): Promise<BrowserAnswer> => {
    const { observation, content, extras } = await executor.act(...request);
    return { kind: observation, content, extras: extras as Extras };
  };
  return {
    executor,
    browse: (url, more = {}, timeout) => act('browse', { url, ...more }, timeout),
    do: (...actions) => act('browse_interactive', { browser_actions: actions.join('\n') }),
  };
}

/** The id of the first line of the tree that holds the text. */
export function bidOf(content: string, text: string): string {
  const line = content.split('\n').find((candidate) => candidate.includes(text) && /\[\w+\]/.test(candidate));
  const bid = /\[(\w+)\]/.exec(line ?? '')?.[1];
  if (bid === undefined) throw new Error(`no element with ${text} in\n${content}`);
  return bid;
}

/** Width and height of a PNG in a `data:` URL. */
export function pngSize(url: string): readonly [number, number] {
  const bytes = Buffer.from(/^data:image\/png;base64,(.*)$/.exec(url)?.[1] ?? '', 'base64');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}
