import { describe, expect, it } from 'vitest';
import { hostileZip, type HostileEntry } from './hostile-zip.test-support.ts';
import { readZip } from './read-zip.ts';

async function contents(zip: Buffer): Promise<Readonly<Record<string, string>>> {
  const read = await Promise.all(readZip(zip).map(async (entry) => [entry.name, (await entry.read()).toString()] as const));
  return Object.fromEntries(read);
}

const MIB = 1024 ** 2;
const one = (entry: HostileEntry): Buffer => hostileZip([entry]);

const longName = (n: number): string => `${`${'a'.repeat(200)}/`.repeat(20)}${n}`;

/** What is refused before a byte is unpacked, and the words for it. */
const REFUSED: readonly (readonly [string, Buffer, RegExp])[] = [
  ['no zip', Buffer.from('this is none'), /not a zip/],
  ['nothing', Buffer.alloc(0), /not a zip/],
  ['a zip that was cut', one({ name: 'a', content: 'x'.repeat(100) }).subarray(0, -10), /not a zip/],
  ['a directory that is cut', hostileZip([{ name: 'a' }], { count: 2 }), /damaged/],
  ['zip64', hostileZip([{ name: 'a' }], { count: 0xffff }), /zip64/],
  ['too many entries', hostileZip([{ name: 'a' }], { count: 30_000 }), /20000 entries/],
  ['a name that leads out', one({ name: '../a' }), /leads out/],
  ['a name that begins at the root', one({ name: '/etc/passwd' }), /leads out/],
  ['a name of Windows', one({ name: 'a\\..\\b' }), /characters/],
  ['a name with a NUL', one({ name: 'a\0b' }), /characters/],
  ['a name of more folders than are compared', one({ name: `${'a/'.repeat(64)}b` }), /more than 64 folders deep/],
  ['more names than are compared', hostileZip(Array.from({ length: 1_100 }, (_, n) => ({ name: longName(n) }))), /bytes of names/],
  ['no name', one({ name: '' }), /no name/],
  ['a name that is another one beside its bytes', one({ name: 'aaa', localName: 'bbb' }), /damaged/],
  ['an encrypted entry', one({ name: 'a', claims: { flags: 1 } }), /encrypted/],
  ['one file of gigabytes', one({ name: 'a', claims: { bytes: 0xffffffff } }), /more than 134217728 bytes/],
  [
    'many files that are gigabytes together',
    hostileZip(Array.from({ length: 20 }, (_, index) => ({ name: `${index}`, claims: { bytes: 100 * MIB } }))),
    /more than 1073741824 bytes/,
  ],
  [
    'entries in each other',
    hostileZip([
      { name: 'a', content: 'x' },
      { name: 'a2', claims: { start: 0 }, localName: 'a' },
    ]),
    /damaged/,
  ],
  ['an entry twice', hostileZip([{ name: 'a' }, { name: 'a' }]), /"a" twice/],
  ['a file that is a folder', hostileZip([{ name: 'a' }, { name: 'a/b' }]), /as a file and as a folder/],
  ['a folder that is a file', hostileZip([{ name: 'a/b/' }, { name: 'a' }]), /as a file and as a folder/],
  ['bytes behind the end', one({ name: 'a', claims: { packedBytes: 5000 } }), /damaged/],
  ['a beginning behind the end', one({ name: 'a', claims: { start: 0xfffffff0 } }), /damaged/],
];

const DAMAGED: readonly (readonly [string, Buffer, RegExp])[] = [
  ['a wrong sum', one({ name: 'a', content: 'x', claims: { crc: 1 } }), /damaged/],
  ['more than was announced', one({ name: 'a', content: 'x'.repeat(10 * MIB), claims: { bytes: 10 } }), /damaged/],
  ['less than was announced', one({ name: 'a', content: 'x', claims: { bytes: 10 } }), /damaged/],
  ['a packing that is not known', one({ name: 'a', claims: { method: 14 } }), /not known/],
  ['bytes that are not packed', one({ name: 'a', content: 'x', claims: { method: 0 } }), /damaged/],
];

describe('SV130: a zip from outside', () => {
  it('is read as it is, folders and empty files too, whatever its comment', async () => {
    const entries = [{ name: 'a/' }, { name: 'a/ä.txt', content: 'one' }, { name: 'empty' }];
    const comment = 'PK\u0005\u0006 in a comment';
    expect(await contents(hostileZip(entries))).toEqual({ 'a/': '', 'a/ä.txt': 'one', empty: '' });
    expect(await contents(hostileZip(entries, { comment: comment.slice(4) }))).toHaveProperty('empty');
  });

  it('has no links', async () => {
    expect(await contents(hostileZip([{ name: 'link', content: '/etc/passwd', claims: { mode: 0o120777 } }, { name: 'a' }]))).toEqual({
      a: '',
    });
  });

  it.each(REFUSED)('is refused when it holds %s', (_what, zip, words) => {
    expect(() => readZip(zip)).toThrow(words);
  });

  it.each(DAMAGED)('is found out when it holds %s', async (_what, zip, words) => {
    await expect(contents(zip)).rejects.toThrow(words);
  });
});
