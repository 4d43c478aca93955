import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFrameReader, encodeMessage, encodeReady, greeting } from './zmtp-socket.ts';

function read(chunks: readonly Buffer[], maxFrameBytes = 1000): { messages: Buffer[][]; commands: Buffer[] } {
  const messages: Buffer[][] = [];
  const commands: Buffer[] = [];
  const reader = createFrameReader(maxFrameBytes, {
    onGreeting: () => {},
    onCommand: (body) => commands.push(body),
    onMessage: (frames) => messages.push([...frames]),
  });
  for (const chunk of chunks) reader.read(chunk);
  return { messages, commands };
}

const frames = fc.array(
  fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
  { minLength: 1, maxLength: 5 },
);

it('RT118: messages are read as they were sent, however they are cut', () => {
  fc.assert(
    fc.property(fc.array(frames), fc.integer({ min: 1, max: 97 }), (messages, step) => {
      const bytes = Buffer.concat([greeting(), encodeReady('DEALER', 'me'), ...messages.map(encodeMessage)]);
      const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_none, index) =>
        bytes.subarray(index * step, (index + 1) * step),
      );
      const seen = read(chunks);
      expect(seen.messages).toEqual(messages);
      expect(seen.commands).toHaveLength(1);
    }),
  );
});

it('RT118: a frame that is too long is dropped unread, what comes after it is not', () => {
  const long = [Buffer.from('head'), Buffer.alloc(5000, 'x')];
  const seen = read([greeting(), encodeMessage(long), encodeMessage([Buffer.from('next')])]);
  expect(seen.messages).toEqual([[Buffer.from('head'), Buffer.alloc(0)], [Buffer.from('next')]]);
});

it('RT118: what is not ZMTP 3 is refused', () => {
  expect(() => read([Buffer.alloc(64, 'GET / HTTP/1.1')])).toThrow('does not speak ZMTP 3');
});

it('RT118: a length that promises the moon costs nothing', () => {
  const head = Buffer.from([2, 0x7f, 255, 255, 255, 255, 255, 255, 255]);
  expect(read([greeting(), head, Buffer.alloc(100_000)]).messages).toEqual([]);
});
