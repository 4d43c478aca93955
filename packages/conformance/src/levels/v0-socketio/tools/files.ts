import type { Check } from '../../../check.ts';
import { client, editor, run, scenarios, tool } from '../../play.ts';
import { PNG } from './cells.ts';

/** Reading and writing whole files, as clients and old agents do. */
export const files: readonly Check[] = scenarios('v0-socketio', 'editor', [
  {
    id: 'files-read-range',
    title: '`read` counts `start` and `end` from 0, `end` exclusive and −1 the end; `view_range` counts from 1',
    cites: ['J2', 'J3', 'J4', 'J5', 'J6', 'Q29', 'Q30', 'Q36', 'Q51'],
    steps: (at) => [
      run(`printf 'zero\\none\\ntwo\\nthree\\n' > ${at}/f`, ''),
      client('read', { path: `${at}/f`, start: 1, end: 3, thought: 'looking', impl_source: 'default' }, /^one\ntwo\n?$/),
      client('read', { path: `${at}/f`, start: 2, end: -1 }, /^two\nthree\n?$/),
      client(
        'read',
        { path: `${at}/f`, impl_source: 'oh_aci', view_range: [2, 2] },
        { content: /2\s+one/, extras: { impl_source: 'oh_aci' } },
      ),
    ],
  },
  {
    id: 'files-write-range',
    title: '`write` replaces the lines from `start` to `end`, counted from 0, and makes a file that is not there',
    cites: ['J9', 'J10', 'J11', 'J12', 'Q37', 'Q52', 'S8'],
    steps: (at) => [
      client('write', { path: `${at}/f`, content: 'a\nb\nc\n', start: 0, end: -1, thought: '', security_risk: null }, {}),
      client('write', { path: `${at}/f`, content: 'B\n', start: 1, end: 2, thought: 'the second', security_risk: -1 }, {}),
      run(`cat ${at}/f`, 'a\nB\nc'),
    ],
  },
  {
    id: 'files-search',
    title: '`grep` and `glob` find lines and files, leave out what git ignores, and count what they do not show',
    cites: ['EN763', 'RT760', 'RT761', 'RT762'],
    steps: (at) => [
      run(`mkdir ${at}/sub; cd ${at}; seq 500 >many.txt; echo 'a needle' | tee sub/a.md b.log >c.txt; echo '*.log' >.gitignore; cd`, ''),
      tool(
        'grep',
        { pattern: 'n[e]+dle$', path: at },
        'read',
        /^2 matching lines in 2 files of [^]*\nc\.txt\n1: a needle\nsub\/a\.md\n1: a needle$/,
      ),
      tool('grep', { pattern: 'needle', path: at, include: '*.md' }, 'read', /^1 matching line/),
      tool('grep', { pattern: '^[0-9]+$', path: at }, 'read', /^500 matching lines[^]*300 more matching lines/),
      tool('grep', { pattern: '(', path: at }, 'read', /^ERROR:/),
      tool('glob', { pattern: '*.{md,log}', path: at }, 'read', { content: /\nsub\/a\.md$/, extras: { path: at } }),
    ],
  },
  {
    id: 'files-relative',
    title: 'a relative path is meant from the workspace',
    cites: ['RT67'],
    steps: () => [
      client('write', { path: 'conformance-relative.txt', content: 'here\n' }, {}),
      client(
        'run',
        { command: 'cat /workspace/conformance-relative.txt 2>/dev/null || cat conformance-relative.txt' },
        { content: 'here' },
      ),
      client('read', { path: 'conformance-relative.txt' }, /here/),
    ],
  },
  {
    id: 'files-binary',
    title: 'files that are not text are refused, with what they are; pictures and PDFs come as data URLs, recognized by their bytes',
    cites: ['RT66', 'RT69'],
    steps: (at) => [
      run(`head -c 300 /dev/zero > ${at}/bin; echo ${PNG} | base64 -d > ${at}/p.png; printf '%%PDF-1.4\\n' > ${at}/d.pdf`, ''),
      run(`echo '<svg/>' > ${at}/v.svg`, ''),
      client('read', { path: `${at}/bin` }, { kind: /error|read/, content: /bin/i }),
      client('read', { path: `${at}/p.png` }, /^data:image\/png;base64,/),
      client('read', { path: `${at}/d.pdf` }, /^data:application\/pdf;base64,/),
      client('read', { path: `${at}/v.svg` }, /<svg\/>/),
    ],
  },
  {
    id: 'files-huge',
    title: 'any lines of a file of more than 32 MiB can be read',
    cites: ['RT70'],
    isSeparate: true,
    steps: (at) => [
      run(`yes 'a line of a long file' | head -c 35000000 > ${at}/huge; sed -i '1000000s/.*/here/' ${at}/huge`, '', { timeout: 60 }),
      editor('view', `${at}/huge`, /1000000\s+here/, { view_range: [1000000, 1000001] }),
      editor('view', `${at}/huge`, /\S/),
    ],
  },
  {
    id: 'files-missing',
    title: 'a file that is not there is an error in words',
    cites: ['P1', 'Q54'],
    steps: (at) => [client('read', { path: `${at}/none` }, { kind: 'error', content: /none/ })],
  },
]);
