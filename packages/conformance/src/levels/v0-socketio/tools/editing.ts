import type { Check } from '../../../check.ts';
import { client, editor, run, scenarios } from '../../play.ts';

const failed = (content: RegExp) => ({ kind: /edit|error/, content }) as const;

/** The editor: what it changes, what it refuses, what it takes back. */
export const editing: readonly Check[] = scenarios('v0-socketio', 'editor', [
  {
    id: 'editor-bytes',
    title: 'an edit keeps encoding, byte-order mark, line ends, a missing final newline and the mode',
    cites: ['RT60', 'J15', 'J18', 'J24', 'Q28', 'Q38', 'Q53'],
    steps: (at) => [
      run(`printf '\\357\\273\\277a\\r\\nb\\r\\nc' > ${at}/edited; chmod 751 ${at}/edited`, ''),
      editor('str_replace', `${at}/edited`, /\S/, { old_str: 'b', new_str: 'B' }),
      run(`od -An -c ${at}/edited | tr -d ' \\n'; stat -c ' %a' ${at}/edited`, '357273277a\\r\\nB\\r\\nc 751'),
      editor('insert', `${at}/edited`, /\S/, { insert_line: 1, new_str: 'new' }),
      run(`grep -c new ${at}/edited`, '1'),
    ],
  },
  {
    id: 'editor-links',
    title: 'a failed edit changes nothing; an edit through a link changes the file and leaves the link, and no file beside it',
    cites: ['RT61'],
    steps: (at) => [
      run(`echo text > ${at}/real; ln -s real ${at}/link`, ''),
      editor('str_replace', `${at}/link`, failed(/\S/), { old_str: 'none', new_str: 'x' }),
      run(`cat ${at}/real`, 'text'),
      editor('str_replace', `${at}/link`, /\S/, { old_str: 'text', new_str: 'new' }),
      run(`cat ${at}/real; readlink ${at}/link; ls -1A ${at}`, 'new\nreal\nlink\nreal'),
    ],
  },
  {
    id: 'editor-patch',
    title: '`apply_patch` and `multi_edit` make all their changes or none, and name what does not fit',
    cites: ['RT764', 'RT765', 'RT766', 'RT767'],
    steps: (at) => {
      const patch = (...lines: readonly string[]) => ({ command: 'apply_patch', path: at, patch: lines.join('\n') });
      const change = [`--- ${at}/f`, `+++ ${at}/f`, '@@ -9 +9 @@', '-2', '+two'];
      const edits = (second: string) => [
        { old_str: 'one', new_str: '1' },
        { old_str: second, new_str: 'II' },
      ];
      return [
        run(`printf 'one\\ntwo\\n' > ${at}/f`, ''),
        client('edit', patch(`*** Add File: ${at}/g`, '+new', `*** Update File: ${at}/f`, '-tvo', '+2'), failed(/^ERROR:[^]*Hunk 1 of/)),
        run(`ls ${at}`, 'f'),
        client('edit', patch(`*** Add File: ${at}/g`, '+new', `*** Update File: ${at}/f`, ' one', '-two', '+2'), {
          extras: { prev_exist: false },
        }),
        run(`cat ${at}/f ${at}/g`, 'one\n2\nnew'),
        client('edit', patch(...change), {}),
        client('edit', { command: 'multi_edit', path: `${at}/f`, edits: edits('none') }, failed(/^ERROR:[^]*Edit 2 of 2/)),
        client('edit', { command: 'multi_edit', path: `${at}/f`, edits: edits('two') }, {}),
        run(`cat ${at}/f`, '1\nII'),
      ];
    },
  },
  {
    id: 'editor-one-match',
    title: '`str_replace` wants one match; several name their lines, and an empty text is refused',
    cites: ['RT62'],
    steps: (at) => [
      run(`printf 'same\\nother\\nsame\\n' > ${at}/s`, ''),
      editor('str_replace', `${at}/s`, failed(/1[^]*3/), { old_str: 'same', new_str: 'x' }),
      editor('str_replace', `${at}/s`, failed(/\S/), { old_str: '', new_str: 'x' }),
      editor('str_replace', `${at}/s`, failed(/\S/), { old_str: 'none', new_str: 'x' }),
      run(`cat ${at}/s`, 'same\nother\nsame'),
    ],
  },
  {
    id: 'editor-forgiving',
    title: '`str_replace` forgives line ends, and white space around a text that is unique otherwise',
    cites: ['RT62'],
    steps: (at) => [
      run(`printf 'one\\r\\ntwo\\r\\n' > ${at}/m`, ''),
      editor('str_replace', `${at}/m`, /\S/, { old_str: 'one\ntwo', new_str: '1\n2' }),
      editor('str_replace', `${at}/m`, /\S/, { old_str: '\n  2  \n', new_str: '3' }),
      run(`od -An -c ${at}/m | tr -d ' \\n'`, '1\\r\\n3\\r\\n'),
    ],
  },
  {
    id: 'editor-nearest',
    title: 'a `str_replace` that finds nothing shows the lines most like the text, with their numbers',
    cites: ['RT71'],
    steps: (at) => [
      run(`printf 'def first():\\n    return one\\n\\ndef second():\\n    return two\\n' > ${at}/n.py`, ''),
      editor('str_replace', `${at}/n.py`, failed(/4[^]*second/), { old_str: 'def second(self):\n    return two', new_str: 'x' }),
    ],
  },
  {
    id: 'editor-view',
    title: '`view` numbers lines, bounds ranges, and shows folders two levels deep without hidden entries',
    cites: ['RT63', 'S5', 'EN54'],
    steps: (at) => [
      run(`printf 'a\\nb\\n' > ${at}/v; mkdir -p ${at}/t/b/c; touch ${at}/t/a ${at}/t/.hidden ${at}/t/b/c/deep`, ''),
      editor('view', `${at}/v`, { content: /1\ta\n\s*2\tb/, extras: { impl_source: 'oh_aci' } }),
      editor('view', `${at}/v`, { kind: /read|error/, content: /ERROR|range/ }, { view_range: [9, -1] }),
      editor('view', `${at}/t`, /^(?![^]*\/(?:\.hidden|deep)\b)[^]*\/t\/b\/c/),
    ],
  },
  {
    id: 'editor-undo',
    title: '`undo_edit` takes edits back, the newest first; where there is none it says so',
    cites: ['RT64'],
    steps: (at) => [
      editor('create', `${at}/u`, /\S/, { file_text: 'one\n' }),
      editor('insert', `${at}/u`, /\S/, { insert_line: 1, new_str: 'two' }),
      editor('undo_edit', `${at}/u`, /\S/),
      run(`cat ${at}/u`, 'one'),
      run(`echo x > ${at}/w`, ''),
      editor('undo_edit', `${at}/w`, failed(/\S/)),
    ],
  },
  {
    id: 'editor-undo-shared',
    title: '`undo_edit` takes back only what an edit left: what a command has written since stays',
    cites: ['RT220'],
    steps: (at) => [
      editor('create', `${at}/s`, /\S/, { file_text: 'one\n' }),
      editor('str_replace', `${at}/s`, /\S/, { old_str: 'one', new_str: 'two' }),
      run(`echo three >> ${at}/s`, ''),
      editor('undo_edit', `${at}/s`, failed(/\S/)),
      run(`cat ${at}/s`, 'two\nthree'),
    ],
  },
  {
    id: 'editor-not-text',
    title: 'a file that is not text is not edited, and an edit that would make one is refused',
    cites: ['RT66'],
    steps: (at) => [
      run(`printf 'a\\0b' > ${at}/bin; cp ${at}/bin ${at}/was`, ''),
      editor('str_replace', `${at}/bin`, failed(/\S/), { old_str: 'a', new_str: 'x' }),
      run(`cmp ${at}/bin ${at}/was && echo same`, 'same'),
    ],
  },
  {
    id: 'editor-absolute',
    title: 'paths of the editor are absolute; another is refused in words',
    cites: ['RT67'],
    steps: () => [editor('create', 'conformance-relative', failed(/absolute/), { file_text: 'x' })],
  },
  {
    id: 'editor-append-draft',
    title: 'an `llm_based_edit` that appends, or makes a file, is taken as it stands: no model is asked',
    cites: ['RT191', 'J19', 'J20', 'J21', 'J22', 'J23', 'Q27'],
    steps: (at) => {
      const draft = (content: string, start: number, end: number): object => ({
        path: `${at}/d.txt`,
        content,
        start,
        end,
        thought: '',
        security_risk: 0,
        impl_source: 'llm_based_edit',
      });
      return [
        client('edit', { ...draft('one\n', 1, -1) }, { extras: { impl_source: 'llm_based_edit' } }),
        client('edit', { ...draft('two\n', -1, -1) }, {}),
        client('run', { command: `cat ${at}/d.txt` }, { content: 'one\ntwo' }),
      ];
    },
  },
  {
    id: 'editor-no-such-lines',
    title: 'an `llm_based_edit` of lines that are not there is an error, and nothing is changed',
    cites: ['RT194'],
    steps: (at) => [
      run(`printf 'a\\nb\\n' > ${at}/l`, ''),
      client('edit', { path: `${at}/l`, content: 'x', start: 40, end: 50, impl_source: 'llm_based_edit' }, failed(/\S/)),
      run(`cat ${at}/l`, 'a\nb'),
    ],
  },
]);
