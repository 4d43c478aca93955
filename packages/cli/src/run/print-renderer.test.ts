import type { Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { PrintRenderer } from './print-renderer.ts';
import { TextRenderer } from './text-renderer.ts';

const speech = { id: 1, timestamp: '', source: 'agent', action: 'message', args: { content: 'Fine.', image_urls: [] } } as unknown as Event;

it('CK1004: the answer is printed once where the progress is seen on the same terminal, and as one object with --json', () => {
  const printed = (json: boolean, isSeen: boolean) => {
    let written = '';
    const write = (text: string) => void (written += text);
    const progress = new TextRenderer({ write, isLive: false, isColoured: false, now: () => 0 });
    const renderer = new PrintRenderer({ json, isSeen, write, progress });
    renderer.event(speech);
    renderer.end({ exitCode: 0, state: 'finished', durationMs: 1 });
    return written.match(/Fine\./g)?.length;
  };
  expect([printed(false, true), printed(false, false), printed(true, true)]).toEqual([1, 2, 2]);
});
