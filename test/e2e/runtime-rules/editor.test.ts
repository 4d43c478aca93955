/** The rules of the editor and of files, through the events of a conversation. */
import { provesRules } from './proves-rules.ts';
import { client, editor, rule, run } from './rule-case.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const REVIEW = 'Review the changes and make sure they are as expected. Edit the file again if necessary.';
const failed = (words: string | RegExp) =>
  ({
    content: words instanceof RegExp ? words : `ERROR:\n${words}`,
    extras: { old_content: null, new_content: null, diff: null },
  }) as const;

provesRules([
  rule(
    'RT60',
    'encoding, byte-order mark, line ends, final newline and mode stay',
    run("printf '\\xef\\xbb\\xbfa\\r\\nb\\r\\nc' > kept; chmod 751 kept", ''),
    editor('str_replace', '/workspace/kept', /has been edited/, { old_str: 'b', new_str: 'B\nB' }),
    run('od -An -c kept | tr -d " \\n"; stat -c " %a" kept', '357273277a\\r\\nB\\r\\nB\\r\\nc 751'),
    run("printf 'caf\\xe9 und stra\\xdfe, h\\xe4user und gr\\xfc\\xdfe\\n' > latin", ''),
    editor('str_replace', '/workspace/latin', /has been edited/, { old_str: 'h\u00e4user und', new_str: 'h\u00f6fe' }),
    run('grep -c "h\u00f6fe" latin; iconv -f latin1 -t utf-8 latin', { content: '0\ncafé und straße, höfe grüße', exitCode: 0 }),
  ),
  rule(
    'RT61',
    'a failed edit changes nothing, a link stays a link, and no other file is left',
    run('mkdir d; echo text > d/real; ln -s real d/link', ''),
    editor('str_replace', '/workspace/d/link', failed(/^ERROR:\nNothing was replaced/), { old_str: 'none', new_str: 'x' }),
    editor('str_replace', '/workspace/d/link', /has been edited/, { old_str: 'text', new_str: 'new' }),
    run('cat d/real; readlink d/link; ls -1A d', 'new\nreal\nlink\nreal'),
  ),
  rule(
    'RT62',
    'str_replace wants one match; line ends and white space around the text are forgiven',
    run("printf 'one\\r\\ntwo\\r\\n' > m; printf 'same\\nother\\nsame\\n' > s", ''),
    editor('str_replace', '/workspace/m', /has been edited/, { old_str: 'one\ntwo', new_str: '1\n2' }),
    editor('str_replace', '/workspace/m', /has been edited/, { old_str: '\n  2  \n', new_str: '3' }),
    run('od -An -c m | tr -d " \\n"', '1\\r\\n3\\r\\n'),
    editor(
      'str_replace',
      '/workspace/s',
      failed(
        'Nothing was replaced: old_str `same` stands more than once in /workspace/s, at lines 1, 3. Take in lines around it until it stands once.',
      ),
      { old_str: 'same', new_str: 'x' },
    ),
    editor('str_replace', '/workspace/s', failed('Nothing was replaced: old_str is empty.'), { old_str: '', new_str: 'x' }),
  ),
  rule(
    'RT63',
    'view numbers lines, bounds ranges, clips, and shows folders two levels deep',
    run("printf 'a\\nb\\n' > v; mkdir -p t/b/c/d; touch t/a t/.hidden t/b/z t/b/c/deep", ''),
    editor('view', '/workspace/v', "Here's the result of running `cat -n` on /workspace/v:\n     1\ta\n     2\tb\n     3\t\n"),
    editor('view', '/workspace/v', "Here's the result of running `cat -n` on /workspace/v:\n     2\tb\n", { view_range: [2, 2] }),
    editor('view', '/workspace/v', 'ERROR:\nview_range [9, -1]: the first line must be from 1 to 3.', { view_range: [9, -1] }),
    editor('view', '/workspace/v', /^\[The file ends at line 3\.\]\n/, { view_range: [1, 99] }),
    editor('view', '/workspace/v', 'ERROR:\nview_range [2, 1]: the last line is before the first.', { view_range: [2, 1] }),
    editor('view', '/workspace/t', 'ERROR:\nThe `view_range` parameter is not allowed when `path` points to a directory.', {
      view_range: [1, 2],
    }),
    editor('view', '/workspace/none', 'ERROR:\nThere is no file or folder /workspace/none.'),
    editor(
      'view',
      '/workspace/t',
      "Here's the files and directories up to 2 levels deep in /workspace/t, excluding hidden items:\n/workspace/t/\n/workspace/t/a\n/workspace/t/b/\n/workspace/t/b/c/\n/workspace/t/b/z\n\n1 hidden files/directories in this directory are excluded. ls -la /workspace/t shows them.",
    ),
    run('head -c 20000 /dev/zero | tr "\\0" x > long', ''),
    editor(
      'view',
      '/workspace/long',
      /x\[Clipped: the file goes on\. Find the lines that matter with `grep -n` and view them with view_range\.\]\n$/,
    ),
  ),
  rule(
    'RT64',
    'undo_edit goes back step by step',
    editor('create', '/workspace/u', 'File created successfully at: /workspace/u', { file_text: 'one\n' }),
    editor('insert', '/workspace/u', /has been edited/, { insert_line: 1, new_str: 'two' }),
    editor(
      'undo_edit',
      '/workspace/u',
      "The last edit of /workspace/u was undone. Here's the result of running `cat -n` on /workspace/u:\n     1\tone\n     2\t\n",
    ),
    editor('undo_edit', '/workspace/u', 'The last edit of /workspace/u was undone. The file did not exist before it and was removed.'),
    editor('undo_edit', '/workspace/u', failed('There is no edit of /workspace/u to undo.')),
  ),
  rule(
    'RT220',
    'what something else has changed since is not undone with it',
    editor('create', '/workspace/shared', 'File created successfully at: /workspace/shared', { file_text: 'one\n' }),
    editor('str_replace', '/workspace/shared', /has been edited/, { old_str: 'one', new_str: 'two' }),
    run('echo three >> shared', ''),
    editor(
      'undo_edit',
      '/workspace/shared',
      failed(
        'Something else has changed /workspace/shared since its last edit here, and undo_edit would take that back too. Nothing was undone: view the file and edit it as it is now.',
      ),
    ),
    run('cat shared; printf "two\n" > shared', 'two\nthree'),
    editor('undo_edit', '/workspace/shared', /^The last edit of \/workspace\/shared was undone\./),
    run('cat shared; rm shared', 'one'),
    editor('undo_edit', '/workspace/shared', failed('There is no edit of /workspace/shared to undo.')),
  ),
  rule(
    'RT65',
    'an edit has the contents before and after and the diff; a missing parameter is named',
    editor('create', '/workspace/e', { extras: { prev_exist: false, old_content: null, new_content: 'a\nb\n' } }, { file_text: 'a\nb\n' }),
    editor(
      'str_replace',
      '/workspace/e',
      {
        content: `The file /workspace/e has been edited. Here's the result of running \`cat -n\` on a snippet of /workspace/e:\n     1\ta\n     2\tc\n     3\t\n${REVIEW}`,
        extras: {
          path: '/workspace/e',
          prev_exist: true,
          old_content: 'a\nb\n',
          new_content: 'a\nc\n',
          impl_source: 'oh_aci',
          diff: '--- /workspace/e\n+++ /workspace/e\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n',
        },
      },
      { old_str: 'b', new_str: 'c' },
    ),
    editor(
      'create',
      '/workspace/e',
      failed('/workspace/e exists already. create makes new files only; str_replace and insert change this one.'),
      {
        file_text: 'x',
      },
    ),
    editor('insert', '/workspace/e', failed('insert_line is 9; it must be from 0 to 2.'), { insert_line: 9, new_str: 'x' }),
    editor('insert', '/workspace', failed('/workspace is a folder, and only view works on folders.'), { insert_line: 0, new_str: 'x' }),
    editor('create', '/workspace/made/by/it', 'File created successfully at: /workspace/made/by/it', { file_text: 'x' }),
    client('edit', { path: '/workspace/e', command: 'str_replace' }, failed('str_replace needs the parameter old_str.')),
    client('edit', { path: '/workspace/e', command: 'write', file_text: 'whole' }, 'File written successfully at: /workspace/e'),
  ),
  rule(
    'RT66',
    'what is no text is refused by name',
    run('cp /bin/true program; mkfifo pipe; printf "a\\0b" > zero', ''),
    editor(
      'view',
      '/workspace/program',
      'ERROR:\nThe file /workspace/program cannot be viewed or edited here: it is a binary file (ELF program).',
    ),
    editor('view', '/workspace/pipe', 'ERROR:\nThe file /workspace/pipe cannot be viewed or edited here: it is not a regular file.'),
    editor('str_replace', '/workspace/zero', failed('The file /workspace/zero cannot be viewed or edited here: it is a binary file.'), {
      old_str: 'a',
      new_str: 'b',
    }),
  ),
  rule(
    'RT67',
    'paths of the editor are absolute; read and write take relative ones, and lines from 0',
    run('echo x > here', ''),
    editor('view', 'here', 'ERROR:\nThe path here is not absolute: it must begin with /. Maybe you meant /workspace/here?'),
    client('write', { path: 'w/x.txt', content: 'a\nb\nc\n' }, { content: '', extras: { path: '/workspace/w/x.txt' } }),
    client('write', { path: 'w/x.txt', content: 'B\nB', start: 1, end: 2 }, ''),
    client('read', { path: 'w/x.txt' }, { content: 'a\nB\nB\nc\n', extras: { path: '/workspace/w/x.txt', impl_source: 'default' } }),
    client('read', { path: 'w/x.txt', start: 1, end: 3 }, 'B\nB\n'),
    client('read', { path: 'w' }, { observation: 'error', content: '/workspace/w is a folder; only files can be read.' }),
    client('read', { path: '/root/.bashrc' }, { observation: 'error', content: 'There is no file /root/.bashrc.' }),
  ),
  rule(
    'RT68',
    'what is the executor’s own is out of reach, by its path and by a link',
    run('ln -s /var/lib/tendon own', ''),
    client('read', { path: 'own/journal' }, { observation: 'error' }),
    editor('create', '/workspace/own/mine', failed('/workspace/own/mine belongs to the runtime itself'), { file_text: 'x' }),
    editor('create', '/var/lib/tendon/mine', failed('/var/lib/tendon/mine belongs to the runtime itself'), { file_text: 'x' }),
  ),
  rule(
    'RT490',
    'no folder is made there for a file that is refused, and what lies there is not listed',
    editor('create', '/var/lib/tendon/new/mine', failed('/var/lib/tendon/new/mine belongs to the runtime itself'), { file_text: 'x' }),
    editor('create', '/var/lib/tendon/new/er/mine', failed('/var/lib/tendon/new/er/mine belongs to the runtime itself'), {
      file_text: 'x',
    }),
    editor('view', '/var/lib/tendon', 'ERROR:\n/var/lib/tendon belongs to the runtime itself'),
  ),
  rule(
    'RT69',
    'images and PDFs are data URLs, told by their bytes; SVG is text',
    run(`echo ${PNG} | base64 -d > picture; printf '%%PDF-1.4\\n' > paper; echo '<svg/>' > drawing.svg`, ''),
    editor('view', '/workspace/picture', `data:image/png;base64,${PNG}`),
    client('read', { path: 'picture' }, `data:image/png;base64,${PNG}`),
    client('read', { path: 'paper' }, 'data:application/pdf;base64,JVBERi0xLjQK'),
    client('read', { path: 'drawing.svg' }, '<svg/>\n'),
  ),
  rule(
    'RT70',
    'of a huge file any lines can be seen',
    run('seq -f "%099.0f" 1 400000 > huge', ''),
    client('read', { path: 'huge', start: 399_999 }, `${'400000'.padStart(99, '0')}\n`),
    editor('view', '/workspace/huge', new RegExp(`:\n400000\t0+400000\n400001\t\n$`), { view_range: [400_000, -1] }),
    editor('insert', '/workspace/huge', failed(/at most 33554432 can be opened here/), { insert_line: 0, new_str: 'x' }),
    run('rm huge', ''),
  ),
  rule(
    'RT71',
    'a str_replace that finds nothing shows the lines most like it',
    run("printf 'def f():\\n\\treturn 1\\n' > near.py", ''),
    editor(
      'str_replace',
      '/workspace/near.py',
      failed(
        'Nothing was replaced: /workspace/near.py does not contain old_str `def f():\n    return 1`.\nThe closest lines are 1 to 2; they differ only in indentation (the file has tabs, old_str spaces).\n     1\tdef f():\n     2\t\treturn 1',
      ),
      { old_str: 'def f():\n    return 1', new_str: 'x' },
    ),
  ),
  rule(
    'RT191',
    'a draft for a file that is not there is taken as it stands',
    client(
      'edit',
      { path: '/workspace/n.txt', impl_source: 'llm_based_edit', content: 'new\n' },
      'File created successfully at: /workspace/n.txt',
    ),
    client(
      'edit',
      { path: '/workspace/n.txt', impl_source: 'llm_based_edit', content: 'end\n', start: -1 },
      { extras: { new_content: 'new\nend\n' } },
    ),
  ),
  rule(
    'RT194',
    'a draft for lines that are not there is refused',
    client(
      'edit',
      { path: '/workspace/n.txt', impl_source: 'llm_based_edit', content: 'x', start: 5, end: 9 },
      failed(
        'The file /workspace/n.txt was not edited: start is 5 and end is 9, and the file has 2 lines: start must be from 1 to 2, end from start to 2 or -1 for the end; start -1 appends.',
      ),
    ),
  ),
]);
