import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { promptContent } from './prompt-content.ts';

it('CK1042: a prompt is passed on whole, and one with what cannot be passed on is refused with the reason', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const;
  const resource = { type: 'resource', resource: { uri: 'file:///a.txt', text: 'old' } } as const;
  expect(promptContent([{ type: 'text', text: 'look' }, resource, { type: 'resource_link', name: 'b', uri: 'file:///b' }, image])).toEqual({
    text: 'look\n\nfile:///a.txt:\nold\n\nfile:///b',
    imageUrls: ['data:image/png;base64,AAAA'],
  });
  expect(promptContent([image]).text).toBe('');
  const refused: readonly (readonly [readonly unknown[], string])[] = [
    [
      [
        { type: 'text', text: 'hear' },
        { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      ],
      'the kind audio is not taken',
    ],
    [[{ type: '_smell' }], 'the kind _smell is not taken'],
    [[], 'it is empty'],
    [[{ type: 'text', text: ' ' }], 'it is empty'],
    [[{ ...image, data: 'A'.repeat(4_000_001) }], 'larger than 3 MB'],
    [Array.from({ length: 6 }, () => ({ ...image, data: 'A'.repeat(3_500_000) })), 'larger than 14 MB'],
  ];
  for (const [blocks, why] of refused) expect(() => promptContent(blocks as ContentBlock[])).toThrow(why);
});
