import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tendon-skills-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What the calls print, in the folder. */
function skills(...calls: readonly string[]): string {
  const script = `import sys; sys.dont_write_bytecode = True; sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})
from agent_skills import *
${calls.join('\n')}`;
  return execFileSync('python3', ['-c', script], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trimEnd();
}
const put = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
const bytes = (name: string): string => readFileSync(join(folder, name), 'latin1');
const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

describe('looking', () => {
  it('RT183: a file is shown in windows that move', () => {
    put('long.txt', numbered(300));
    const shown = skills('open_file("long.txt", 50, 10)', 'scroll_down()', 'goto_line(300)', 'scroll_down()', 'scroll_up()');
    const windows = shown.split('[File: ').slice(1);
    const firsts = windows.map((window) => /^(\d+)\|/m.exec(window)?.[1]);
    expect(firsts).toEqual(['45', '55', '291', '291', '285']);
    expect(windows[0]).toContain(`${folder}/long.txt (300 lines)]\n(44 lines above)\n45|line 45`);
    expect(windows[0]).toMatch(/\(246 lines below\)\n$/);
    expect(windows[2]).toMatch(/\(the file ends here\)\n$/);
  });

  const REFUSALS = [
    { call: 'open_file("missing")', says: 'ERROR: there is no file missing' },
    { call: 'goto_line(1)', says: 'ERROR: no file is open; begin with open_file(path)' },
    { call: 'scroll_up()', says: 'ERROR: no file is open; begin with open_file(path)' },
    { call: 'open_file("short.txt", 9)', says: 'ERROR: there is no line 9; lines go from 1 to 2' },
    { call: 'open_file("short.txt", "x")', says: 'ERROR: there is no line x; lines go from 1 to 2' },
    { call: 'open_file("binary")', says: 'ERROR: binary is not text' },
    { call: 'search_dir("x", "missing")', says: 'ERROR: there is no folder missing' },
    { call: 'search_file("x")', says: 'ERROR: no file is open; name one' },
    { call: 'parse_pdf("missing")', says: 'ERROR: there is no file missing' },
    { call: 'parse_docx("short.txt")', says: 'ERROR: short.txt is not of that kind' },
  ];
  it.each(someOf(REFUSALS, 3))('RT185: $call is refused in one line', ({ call, says }) => {
    put('short.txt', 'a\nb\n');
    put('binary', Buffer.from([1, 0, 2]));
    expect(skills(call)).toBe(says);
  });

  itInFull('RT183: searches leave out hidden files, dependencies and what is not text, and are bounded', () => {
    for (const name of ['src', '.git', 'node_modules']) mkdirSync(join(folder, name));
    put('src/a.py', 'needle = 1\n');
    put('.git/needle', 'needle');
    put('node_modules/needle.js', 'needle');
    put('binary', Buffer.from([0xff, 0xfe, ...Buffer.from('needle')]));
    expect(skills('search_dir("needle")')).toBe(`[Found 1 of "needle" in ${folder} in 1 files]\n./src/a.py (line 1): needle = 1`);
    expect(skills('find_file("*.py")')).toBe(`[Found 1 of files named "*.py" in ${folder}]\n./src/a.py`);
    expect(skills('search_dir("nowhere")')).toBe(`[Nothing found: "nowhere" in ${folder}]`);
    put('many.txt', 'needle\n'.repeat(200));
    expect(skills('search_file("needle", "many.txt")')).toMatch(/^\[Found the first 100 of[\s\S]*There are more/);
  });
});

describe('editing', () => {
  const EDITS = [
    { says: 'adds at the end', before: 'a', call: 'append_file("f.txt", "b")', after: 'a\nb\n' },
    { says: 'adds to an empty file', before: '', call: 'append_file("f.txt", "b")', after: 'b\n' },
    { says: 'keeps line ends', before: 'a\r\nb\r\n', call: 'insert_content_at_line("f.txt", 2, "x\\ny")', after: 'a\r\nx\r\ny\r\nb\r\n' },
    { says: 'inserts after a last line without an end', before: 'a', call: 'insert_content_at_line("f.txt", 2, "b")', after: 'a\nb\n' },
    {
      says: 'replaces over lines of either end',
      before: 'a\r\nb\r\n',
      call: 'edit_file_by_replace("f.txt", "a\\nb", "c")',
      after: 'c\r\n',
    },
    { says: 'replaces lines', before: 'a\nb\nc\n', call: 'edit_file_by_line("f.txt", 1, 2, "x")', after: 'x\nc\n' },
    { says: 'takes lines away', before: 'a\nb\n', call: 'edit_file_by_line("f.txt", 1, 1, "")', after: 'b\n' },
    { says: 'keeps bytes that are no UTF-8', before: 'a\xff\nb\n', call: 'append_file("f.txt", "c")', after: 'a\xff\nb\nc\n' },
    { says: 'keeps separators that end no line', before: 'a\x0cb\n', call: 'append_file("f.txt", "c")', after: 'a\x0cb\nc\n' },
  ];
  it.each(EDITS)('RT184: an edit $says', ({ before, call, after }) => {
    put('f.txt', Buffer.from(before, 'latin1'));
    chmodSync(join(folder, 'f.txt'), 0o741);
    symlinkSync('f.txt', join(folder, 'link.txt'));
    expect(skills(call.replace('f.txt', 'link.txt'))).not.toContain('ERROR');
    expect(bytes('f.txt')).toBe(after);
    expect(statSync(join(folder, 'f.txt')).mode & 0o777).toBe(0o741);
  });

  const REFUSED = [
    {
      name: 'a.py',
      before: 'x = 1\n',
      call: 'edit_file_by_replace("a.py", "1", "(")',
      says: /would not parse any more: line 1: '\(' was never closed/,
    },
    { name: 'a.json', before: '{"a": 1}', call: 'append_file("a.json", "}")', says: /would not parse any more: Extra data/ },
    { name: 'a.toml', before: 'a = 1\n', call: 'append_file("a.toml", "b")', says: /would not parse any more/ },
    { name: 'a.sh', before: 'true\n', call: 'append_file("a.sh", "if")', says: /would not parse any more: bash: line 3/ },
    { name: 'a.txt', before: 'x\nx\n', call: 'edit_file_by_replace("a.txt", "x", "y")', says: /stands 2 times in a.txt, at lines 1, 2/ },
    { name: 'a.txt', before: 'x\n', call: 'edit_file_by_replace("a.txt", "q", "y")', says: /does not stand in a.txt/ },
    { name: 'a.txt', before: 'x\n', call: 'edit_file_by_line("a.txt", 1, 5, "y")', says: /there is no line 5/ },
    { name: 'a.txt', before: 'x\n', call: 'create_file("a.txt", "y")', says: /is there already/ },
  ];
  it.each(someOf(REFUSED, 3))('RT184: $call is refused and changes nothing', ({ name, before, call, says }) => {
    put(name, before);
    const output = skills(call);
    expect(output).toMatch(/^ERROR: /);
    expect(output).toMatch(says);
    expect(bytes(name)).toBe(before);
  });

  it('RT184: a file that was broken before may be worked on', () => {
    put('a.py', 'x = (\ny = 1\n');
    expect(skills('edit_file_by_replace("a.py", "y = 1", "y = 2")')).toMatch(/It does not parse, as before/);
    expect(bytes('a.py')).toBe('x = (\ny = 2\n');
  });
});

describe('documents', () => {
  const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
  const zip = (name: string, members: Readonly<Record<string, string>>): string =>
    `import zipfile\nwith zipfile.ZipFile(${JSON.stringify(name)}, "w") as z:\n` +
    Object.entries(members)
      .map(([member, content]) => `    z.writestr(${JSON.stringify(member)}, ${JSON.stringify(content)})`)
      .join('\n');

  it('RT185: the text of a Word document', () => {
    const xml = `<w:document ${W}><w:body><w:p><w:r><w:t>Hello</w:t><w:tab/><w:t>you</w:t></w:r></w:p><w:p><w:r><w:t>next</w:t></w:r></w:p></w:body></w:document>`;
    expect(skills(zip('a.docx', { 'word/document.xml': xml }), 'parse_docx("a.docx")')).toBe('[Text of a.docx]\nHello\tyou\nnext');
  });

  it('RT185: the text of slides, in their order', () => {
    const slide = (text: string): string => `<s ${A}><a:p><a:r><a:t>${text}</a:t></a:r></a:p></s>`;
    const slides = { 'ppt/slides/slide10.xml': slide('ten'), 'ppt/slides/slide2.xml': slide('two') };
    expect(skills(zip('a.pptx', slides), 'parse_pptx("a.pptx")')).toBe('[Text of a.pptx]\n@@ slide 2 @@\ntwo\n@@ slide 10 @@\nten');
  });

  it('RT185: LaTeX without its preamble and comments', () => {
    put('a.tex', '\\usepackage{x}\n\\begin{document}\nBody % aside\n50\\% of it\n\\end{document}\n');
    expect(skills('parse_latex("a.tex")')).toBe('[Text of a.tex]\nBody \n50\\% of it');
  });

  it('RT185: a document whose entities would grow without end is refused', () => {
    const bomb = `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">]><w:document ${W}><w:p><w:t>&a;</w:t></w:p></w:document>`;
    expect(skills(zip('a.docx', { 'word/document.xml': bomb }), 'parse_docx("a.docx")')).toMatch(/^ERROR: a.docx declares/);
  });
});
