import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { RunObservation } from '../events/command.ts';
import { MessageAction } from '../events/message.ts';
import { createMask, SECRET_HIDDEN } from './secret-mask.ts';
import { Secret } from './secret.ts';

const mask = createMask([new Secret('hunter2hunter2'), new Secret('line "one"\nline two')]);

it('EN70: a secret is hidden anywhere in a draft, also as JSON inside a string', () => {
  const draft = mask.draft({
    source: 'agent',
    ...RunObservation.create('token=hunter2hunter2.', {
      command: `echo ${JSON.stringify('line "one"\nline two')}`,
      metadata: { suffix: 'hunter2hunter2' },
    }),
  });
  expect(draft).toMatchObject({
    content: `token=${SECRET_HIDDEN}.`,
    extras: { command: `echo "${SECRET_HIDDEN}"`, metadata: { suffix: SECRET_HIDDEN } },
  });
});

it('EN71: what holds no secret stays the same object', () => {
  const draft = { source: 'user' as const, ...MessageAction.create({ content: 'hello' }) };
  expect(createMask([]).draft(draft)).toBe(draft);
});

const SHORT = ['aaaaaaaa', 'abababab', 'babababa', 'aaaaaaaab', 'bbbbbbbbbbbb'];

/** Text with every character of an occurrence taken out, mark or not. */
const bare = (text: string) => text.replaceAll(SECRET_HIDDEN, '#');

it('EN72: a stream hides the same as the whole text, wherever it is cut', () => {
  const secrets = fc.subarray(SHORT, { minLength: 1 }).map((values) => createMask(values.map((value) => new Secret(value))));
  const chunks = fc.array(fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 }), fc.constantFrom(...SHORT)), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(secrets, chunks, (any, pieces) => {
      const stream = any.stream();
      const shown = pieces.map((piece) => stream.push(piece)).join('') + stream.flush();
      expect(bare(shown)).toBe(bare(any.text(pieces.join(''))));
    }),
    { numRuns: 2000 },
  );
});

it('EN73: a stream holds back only what looks like the beginning of a secret', () => {
  const stream = mask.stream();
  expect(stream.push('password: hunter')).toBe('password: ');
  expect(stream.push('ess!\n')).toBe('hunteress!\n');
  expect(stream.push('hunter2hunter2!')).toBe(`${SECRET_HIDDEN}!`);
  expect(stream.push('hunt')).toBe('');
  expect(stream.flush()).toBe('hunt');
});

it('EN73: where output pauses, up to three characters that could begin a secret are shown, and the rest of it is hidden', () => {
  const stream = mask.stream();
  expect(stream.push('Go on? [y/h')).toBe('Go on? [y/');
  expect(stream.pause()).toBe('h');
  expect(stream.pause()).toBe('');
  expect(stream.push('u')).toBe('');
  expect(stream.pause()).toBe('u');
  expect(stream.push('nter2hunter2!')).toBe(`${SECRET_HIDDEN}!`);
  expect(stream.push('hunt')).toBe('');
  expect(stream.pause()).toBe('');
});

it('EN73: wherever output is cut and pauses, of a secret at most its first three characters are shown', () => {
  const secrets = fc.subarray(SHORT, { minLength: 1 }).map((values) => createMask(values.map((value) => new Secret(value))));
  const piece = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 4 }), fc.constantFrom(...SHORT), fc.constant(null));
  fc.assert(
    fc.property(secrets, fc.array(piece, { maxLength: 16 }), (any, pieces) => {
      const stream = any.stream();
      const shown = pieces.map((one) => (one === null ? stream.pause() : stream.push(one))).join('') + stream.flush();
      const allowed = bare(any.text(pieces.join(''))).replaceAll('#', '[ab]{0,3}#');
      expect(bare(shown)).toMatch(new RegExp(`^${allowed}$`));
    }),
    { numRuns: 2000 },
  );
});
