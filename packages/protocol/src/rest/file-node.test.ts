import { describe, expect, it } from 'vitest';
import { FileNode, toFileTree } from './file-node.ts';

describe('the tree over a flat listing', () => {
  it('DL40: folders first, then by name, with missing parents made', () => {
    const tree = toFileTree('/workspace', ['b.txt', 'src/', 'src/deep/a.ts', { path: '/workspace/a.txt', size: 12 }, 'empty/']);
    expect(tree).toEqual({
      path: '/workspace',
      name: 'workspace',
      type: 'directory',
      children: [
        { path: '/workspace/empty', name: 'empty', type: 'directory', children: [] },
        {
          path: '/workspace/src',
          name: 'src',
          type: 'directory',
          children: [
            {
              path: '/workspace/src/deep',
              name: 'deep',
              type: 'directory',
              children: [{ path: '/workspace/src/deep/a.ts', name: 'a.ts', type: 'file' }],
            },
          ],
        },
        { path: '/workspace/a.txt', name: 'a.txt', type: 'file', size: 12 },
        { path: '/workspace/b.txt', name: 'b.txt', type: 'file' },
      ],
    });
    expect(FileNode.parse(tree)).toEqual(tree);
  });

  it('DL40: what is outside the root, or nothing, is left out', () => {
    expect(
      toFileTree('/workspace', ['../etc/passwd', '/etc/passwd', 'a/../../b', '', '/', '.', '/workspace', '/workspace/']).children,
    ).toEqual([]);
  });

  it('DL40: names that are special to objects are names', () => {
    expect(toFileTree('/', ['__proto__/constructor']).children).toMatchObject([
      { path: '/__proto__', children: [{ name: 'constructor' }] },
    ]);
  });

  it('DL40: a path that is deeper than any file system has is left out', () => {
    expect(toFileTree('/w', ['a/'.repeat(100_000)]).children).toEqual([]);
  });
});
