import { expect, it } from 'vitest';
import { withPictures } from './cell-pictures.ts';

const ONE = 'data:image/png;base64,AAAA';
const TWO = 'data:image/png;base64,BBBB';

it('DL187: pictures of a cell are lines of Markdown, in their places or at the end', () => {
  expect(withPictures('before\n[An image.]\nafter', [ONE])).toBe(`before\n![image](${ONE})\nafter`);
  expect(withPictures('<Figure size 640x480 with 1 Axes>\n', [ONE, TWO])).toBe(
    `<Figure size 640x480 with 1 Axes>\n![image](${ONE})\n![image](${TWO})`,
  );
  expect(withPictures('[An image.]\n[An image.]', [ONE])).toBe(`![image](${ONE})\n[An image.]`);
});

it('DL187: pictures that those frontends do not look for stay text', () => {
  for (const urls of [null, [], ['data:image/jpeg;base64,AAAA'], ['https://example.com/a.png'], ['data:image/png;base64,A) [x](y']]) {
    expect(withPictures('[An image.]', urls)).toBe('[An image.]');
  }
});

it('DL187: together they are bounded', () => {
  const large = `data:image/png;base64,${'A'.repeat(3 * 1024 * 1024)}`;
  expect(withPictures('', [large, large, ONE]).length).toBeLessThan(4 * 1024 * 1024);
});
