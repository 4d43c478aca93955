import type { Check } from '../../../check.ts';
import { cell, client, run, scenarios } from '../../play.ts';

/** One pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The next cell runs in a new kernel. */
const END_KERNEL = cell('import os; os._exit(0)', {});

/** Cells of Python: one kernel, whose state stays, and the functions that every kernel begins with. */
export const cells: readonly Check[] = scenarios('v0-socketio', 'kernel', [
  {
    id: 'cells-silent',
    title: 'a cell that shows nothing says that it succeeded',
    cites: ['RT102', 'Q33', 'Q49'],
    steps: () => [cell('answer = 6 * 7', /\[Code executed successfully with no output\]/)],
  },
  {
    id: 'cells-error',
    title: 'an error is its traceback without escape sequences, and the next cell runs',
    cites: ['RT104', 'EN56'],
    steps: () => [cell('1 / 0', { content: /^(?![^]*\[0;31m)[^]*ZeroDivisionError/ }), cell('print("next")', /^next/)],
  },
  {
    id: 'cells-rich',
    title: 'rich output is reduced to text; cleared output is gone, progress is in its last state',
    cites: ['RT105'],
    steps: () => [
      cell('from IPython.display import *\ndisplay(HTML("<style>x</style><p>a&amp;b</p><b>c</b>"))', /^a&b\nc/),
      cell('display(Markdown("# head"))', /^# head/),
      cell('print(1); clear_output(); print(2)', /^2/),
      cell('print("1%", end="\\r"); print("99%")', /^99%/),
    ],
  },
  {
    id: 'cells-input',
    title: '`input()` is an error at once: nobody is there to answer',
    cites: ['RT106'],
    steps: () => [cell('input("name? ")', /Error/)],
  },
  {
    id: 'cells-children',
    title: '`!commands`, child processes and `%pip` work in a cell',
    cites: ['RT107'],
    steps: () => [
      cell('!echo "it works" | cut -d" " -f2', /^works/),
      cell('import subprocess\n_ = subprocess.run(["echo", "grandchild"])', /grandchild/),
      cell('%%bash\necho from bash', /^from bash/),
      cell('%pip --version', /pip \d/),
    ],
  },
  {
    id: 'cells-extra',
    title: 'with `include_extra` the content ends with folder and interpreter, without it it does not',
    cites: ['RT108'],
    steps: () => [
      client('run_ipython', { code: 'print(1)', include_extra: true }, /^1\n[^]*working directory: [^]*interpreter: /),
      client('run_ipython', { code: 'print(2)', include_extra: false }, /^2\s*$/),
    ],
  },
  {
    id: 'cells-images',
    title: 'pictures are data URLs in `image_urls`',
    cites: ['RT109'],
    steps: () => [
      cell(`import base64\nfrom IPython.display import Image\ndisplay(Image(data=base64.b64decode("${PNG}")))\nprint("seen")`, {
        content: /seen/,
        extras: { image_urls: [`data:image/png;base64,${PNG}`] },
      }),
    ],
  },
  {
    id: 'cells-long',
    title: 'long output is shown with both ends, however it is printed',
    cites: ['RT110'],
    steps: () => [cell('print("first" + "x" * 5_000_000 + "last")', /^firstx+[^]{0,400}x+last/, { timeout: 60 })],
  },
  {
    id: 'cells-hand-back',
    title: 'a cell that shows nothing for about ten seconds is handed back; another is refused meanwhile, an empty one waits',
    cites: ['RT111'],
    isSeparate: true,
    steps: (_at, silenceSeconds) => [
      cell('import time', {}),
      cell(`time.sleep(${1.5 * silenceSeconds + 3}); print("late")`, { content: /running/ }, {}),
      cell('print("other")', { content: /^(?!other)[^]*running/ }),
      cell('', /^late/, { timeout: silenceSeconds + 30 }),
    ],
  },
  {
    id: 'cells-timeout',
    title: 'a cell that does not end in its time is interrupted, and what was there is still there',
    cites: ['RT112'],
    steps: () => [cell('stored = 7\nwhile True: pass', { content: /KeyboardInterrupt/ }, { timeout: 1 }), cell('print(stored)', /^7/)],
  },
  {
    id: 'cells-death',
    title: 'a kernel that ends is reported, and the next cell runs in a new one',
    cites: ['RT114'],
    steps: () => [
      cell('stored = 1', {}),
      cell('import os; os._exit(3)', { content: /kernel/i }),
      cell('print("stored" in globals())', { content: /False/ }),
    ],
  },
  {
    id: 'cells-start',
    title: 'a kernel starts in the shell’s folder with its exported variables',
    cites: ['RT115'],
    steps: (at) => [
      run(`cd ${at} && export FROM_SHELL=yes`, ''),
      END_KERNEL,
      cell('import os; print(os.environ.get("FROM_SHELL"), os.getcwd())', new RegExp(`^yes ${at}`)),
    ],
  },
  {
    id: 'cells-init',
    title: '`kernel_init_code` runs in every new kernel; its failure is reported and stops nothing',
    cites: ['RT116'],
    isSeparate: true,
    steps: () => [
      client('run_ipython', { code: 'print(ready)', kernel_init_code: 'ready = 42' }, /^42/),
      client('run_ipython', { code: 'import os; os._exit(0)' }, {}),
      client('run_ipython', { code: 'print(ready)' }, /42/),
      client('run_ipython', { code: 'print("goes on")', kernel_init_code: '1 / 0' }, /ZeroDivisionError[^]*goes on/),
    ],
  },
  {
    id: 'cells-module-names',
    title: 'files with the names of modules do not keep a kernel from starting',
    cites: ['RT117'],
    steps: (at) => [
      run(`cd ${at}; echo 'raise SystemExit' | tee random.py socket.py asyncio.py > /dev/null`, ''),
      END_KERNEL,
      cell('print("up")', /^up/),
    ],
  },
  {
    id: 'skills-names',
    title: 'the functions of `agent_skills` are in every new kernel',
    cites: ['RT182'],
    steps: () => [
      END_KERNEL,
      cell('print(all(callable(one) for one in (open_file, goto_line, scroll_down, search_dir, search_file, find_file)))', /True/),
      cell('print("os" in globals(), "re" in globals())', /False False/),
    ],
  },
  {
    id: 'skills-window',
    title: 'a file is shown in a window that moves, and searches leave out what is hidden',
    cites: ['RT183'],
    steps: (at) => [
      run(`cd ${at}; seq 1 500 | sed 's/^/line /' > long.txt; mkdir .git sub; echo needle > .git/a; echo needle > sub/b`, ''),
      cell(`open_file("${at}/long.txt", 250)`, /line 250\b/),
      cell('scroll_down()', /line 350\b/),
      cell(`search_dir("needle", "${at}")`, /^(?![^]*\.git)[^]*sub\/b/),
    ],
  },
  {
    id: 'skills-edit',
    title: 'an edit of a skill is refused when a file that parsed would not parse any more',
    cites: ['RT184'],
    steps: (at) => [
      run(`cd ${at}; printf 'def f():\\n    return 1\\n' > f.py`, ''),
      cell(`edit_file_by_replace("${at}/f.py", "return 1", "return (1")`, { content: /\S/ }),
      run('cat f.py', 'def f():\n    return 1'),
      cell(`edit_file_by_replace("${at}/f.py", "return 1", "return 2")`, { content: /\S/ }),
      run('cat f.py', 'def f():\n    return 2'),
    ],
  },
  {
    id: 'skills-refusals',
    title: 'a refusal of a skill is one line that begins with `ERROR:`',
    cites: ['RT185'],
    steps: (at) => [cell(`open_file("${at}/none.txt")`, /^ERROR: /), cell(`parse_pdf("${at}/none.pdf")`, /^ERROR: /)],
  },
]);
