/** The rules of the Jupyter kernel, through the events of a conversation. */
import { provesRules } from './proves-rules.ts';
import { cell, client, rule, run } from './rule-case.ts';

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENT = '[Code executed successfully with no output]';
const LOST = 'Its variables and imports are lost; the next cell runs in a new one.]';
const WAIT = 'Run an empty cell to wait for more output; with a timeout it waits so many seconds and then interrupts the cell that runs.]';

provesRules([
  rule(
    'RT115',
    'a kernel starts where the shell is, with its exported variables and its Python',
    run('mkdir -p there && cd there && export TENDON_SEEN=yes', ''),
    cell('import os, sys; print(os.environ["TENDON_SEEN"]); os.path.basename(os.getcwd())', "yes\n'there'"),
    run('cd /workspace', ''),
  ),
  rule(
    'RT101',
    'content is what a cell prints and shows, in order, and the value of its last line',
    cell('1 + 1', '2'),
    cell('import sys\nprint("a"); print("b", file=sys.stderr)\ndisplay("c")\n"d"', "a\nb\n'c'\n'd'"),
    cell('import asyncio\nawait asyncio.sleep(0.01, "awaited")', "'awaited'"),
    cell('1;', SILENT),
  ),
  rule(
    'RT102',
    'a silent cell says so',
    cell('silent = 1', { content: SILENT, success: true, extras: { code: 'silent = 1', image_urls: null } }),
  ),
  rule('RT103', 'cells keep their state', cell('silent += 1', SILENT), cell('silent', '2')),
  rule(
    'RT104',
    'an error is its traceback without colours, and the next cell runs',
    cell('def f():\n  return 1 / 0\nf()', {
      content: /^-+\nZeroDivisionError +Traceback[^]*ZeroDivisionError: division by zero$/,
      success: false,
    }),
    cell('this is not', { content: /SyntaxError: invalid syntax$/, success: false }),
    cell('print("on")', 'on'),
  ),
  rule(
    'RT105',
    'rich output is reduced to text',
    cell('from IPython.display import *\ndisplay(HTML("<style>x</style><p>a&amp;b</p><b>c</b>"))', 'a&b\nc'),
    cell('display(Markdown("# head"))', '# head'),
    cell(
      'class Table:\n  def __repr__(self): return "   a\\n0  1"\n  def _repr_html_(self): return "<table><tr><td>1</td></tr></table>"\nTable()',
      '   a\n0  1',
    ),
    cell('print(1); clear_output(); print(2)', '2'),
    cell('print("1%", end="\\r"); print("99%")', '99%'),
    cell('shown = display("one", display_id=True); shown.update("two")', "'one'\n'two'"),
    cell('len?', /Return the number of items/),
  ),
  rule(
    'RT106',
    'input() is an error at once',
    cell('import getpass; getpass.getpass()', { content: /StdinNotImplementedError: getpass was called, /, success: false }),
    cell('input("name? ")', {
      content: /StdinNotImplementedError: raw_input was called, but this frontend does not support input requests\.$/,
      success: false,
    }),
  ),
  rule(
    'RT107',
    'commands, child processes and magics work',
    cell('!echo "$0 works" | cut -d" " -f2', 'works'),
    cell('import os, subprocess\n_ = os.system("echo child"); _ = subprocess.run(["echo", "grandchild"])', 'child\ngrandchild'),
    cell('%%bash\necho from bash; pwd | xargs basename', 'from bash\nthere'),
    cell('%%writefile written.txt\nsome text', 'Writing written.txt'),
    cell('open("written.txt").read()', "'some text\\n'"),
    cell('%timeit -n 1 -r 1 pass', /^\d.* per loop \(mean ± std\. dev\. of 1 run, 1 loop each\)$/),
    cell('%pip --version', /^pip \d/),
    cell(
      'import threading; go = threading.Event()\nt = threading.Thread(target=lambda: (go.wait(), print("from a thread"))); t.start()',
      SILENT,
    ),
    cell('go.set(); t.join(); print("and the cell")', 'from a thread\nand the cell'),
  ),
  rule(
    'RT108',
    'with include_extra the content ends with folder and interpreter',
    cell('os.chdir("/workspace")', {
      content: SILENT,
      place: /^\[Jupyter current working directory: \/workspace\]\n\[Jupyter Python interpreter: \/.*python.*\]$/,
    }),
    client('run_ipython', { code: '2', include_extra: false }, { content: '2', place: '' }),
  ),
  rule(
    'RT109',
    'images are data URLs beside the text; too many are left out',
    cell(`import base64\npixel = base64.b64decode("${PNG}")\ndisplay(Image(data=pixel))\nprint("seen")`, {
      content: '[An image.]\nseen',
      extras: { image_urls: [`data:image/png;base64,${PNG}`] },
    }),
    cell('for _ in range(18): display(Image(data=pixel))', {
      content: /An image was left out: the cell shows too many or too large ones\.\]$/,
      extras: { image_urls: Array.from({ length: 16 }, () => `data:image/png;base64,${PNG}`) },
    }),
  ),
  rule(
    'RT110',
    'of much output both ends are kept, however it is printed',
    cell(
      'print("first"); [print("x" * 1_000_000) for _ in range(40)]; print("last")',
      /^first\nx+\n\[\.\.\. Observation truncated due to length: \d+ characters left out.*\]\nx+\nlast$/,
      { timeout: 120 },
    ),
    cell(
      'print("first" + "x" * 100_000_000 + "last")',
      /^firstx+\n\[\.\.\. Observation truncated due to length: \d+ characters left out.*\]\nx+last$/,
      { timeout: 120 },
    ),
  ),
  rule(
    'RT111',
    'a quiet cell is handed back and goes on; another is refused; an empty one waits',
    cell('import os, time\nwhile not os.path.exists("/workspace/go"): time.sleep(0.05)\nprint("late")', {
      content: `[The cell has no new output after 10 seconds and is still running. ${WAIT}`,
      success: false,
    }),
    cell('print("other")', { content: `[This cell was not run: another one is still running. ${WAIT}`, success: false }),
    run('touch /workspace/go', ''),
    cell('', 'late', { timeout: 60 }),
    cell('', { content: 'ERROR: No cell is running. An empty cell waits for one that was handed back.', success: false }),
  ),
  rule(
    'RT112',
    'a cell that does not end in time is interrupted; a kernel that does not obey is killed',
    cell(
      'kept = 7\nwhile True: pass',
      {
        content: /KeyboardInterrupt:? *\n\[The cell was interrupted: it did not end within 1 seconds\.\]$/,
        success: false,
      },
      { timeout: 1 },
    ),
    cell('kept', '7'),
    cell(
      'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass',
      {
        content: `[The kernel was killed: it did not end within 1 seconds, and it did not obey an interrupt. ${LOST}`,
        success: false,
      },
      { timeout: 1 },
    ),
    cell('"kept" in globals()', 'False'),
  ),
  rule(
    'RT114',
    'a kernel that ends is said, and the next cell runs in a new one',
    cell('import os; os._exit(3)', { content: `[The kernel has ended (exit code 3). ${LOST}`, success: false }),
    cell('import os; os.kill(os.getpid(), 9)', { content: `[The kernel has ended (SIGKILL). ${LOST}`, success: false }),
    cell('exit()', { content: `[The kernel has ended (exit code 0). ${LOST}`, success: false }),
    cell('kept = 1', SILENT),
    run('pkill -9 -f ipykernel; while pgrep -f ipykernel >/dev/null; do sleep 0.05; done', ''),
    cell(
      '"kept" in globals()',
      '[The kernel had ended since the last cell (SIGKILL). This cell runs in a new one: earlier variables and imports are lost.]\nFalse',
    ),
  ),
  rule(
    'RT116',
    'the code that prepares kernels runs in every new one; its failure is said and stops nothing',
    client('run_ipython', { code: 'ready', kernel_init_code: 'ready = 42' }, '42'),
    cell('exit()', { success: false }),
    cell('ready', '42'),
    client(
      'run_ipython',
      { code: '"goes on"', kernel_init_code: '1 / 0' },
      {
        content: /^\[The code that prepares every new kernel failed:\n[^]*ZeroDivisionError: division by zero\]\n'goes on'$/,
        success: true,
      },
    ),
  ),
  rule(
    'RT117',
    'files of the workspace with the names of modules do not keep a kernel from starting',
    run('echo "raise SystemExit" | tee random.py socket.py ipykernel.py asyncio.py >/dev/null', ''),
    client('run_ipython', { code: 'exit()', kernel_init_code: 'pass' }, { success: false }),
    cell('"up"', "'up'"),
    run('rm random.py socket.py ipykernel.py asyncio.py', ''),
  ),
]);
