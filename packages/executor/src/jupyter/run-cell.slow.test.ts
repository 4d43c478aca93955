import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { itInFull, someOf } from '@tendon/testing';
import type { ObservationDraft } from '@tendon/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

type Seen = ObservationDraft<'run_ipython'>;

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAIT = 'Run an empty cell to wait for more output; with a timeout it waits so many seconds and then interrupts the cell that runs.]';
const SYSTEM_PYTHON = { PATH: '/usr/bin:/bin' };

let executor: TestExecutor;
beforeAll(async () => {
  executor = await startExecutor({ limits: { noOutputTimeoutSeconds: 1 } }, SYSTEM_PYTHON);
});
afterAll(() => executor.kill());

/** Waits for its end: on a busy machine any cell may be silent for a second. */
function cell(code: string, args: Record<string, unknown> = {}, timeout = 30): Promise<Seen> {
  return runCell(code, args, timeout);
}

/** Waits until it is silent for a second. */
const cellWhileItSpeaks = (code: string): Promise<Seen> => runCell(code, {});

async function runCell(code: string, args: Record<string, unknown>, timeout?: number): Promise<Seen> {
  const observation = await executor.act('run_ipython', { code, include_extra: false, ...args }, timeout);
  if (observation.observation !== 'run_ipython') throw new Error(observation.content);
  return observation as Seen;
}

interface Case {
  readonly says: string;
  readonly code: string;
  readonly content: string | RegExp;
  readonly success?: boolean;
}

const CASES: readonly Case[] = [
  { says: 'RT101: the value of the last line', code: '1 + 1', content: '2' },
  {
    says: 'RT101: printed text, standard error and value',
    code: 'import sys\nprint("a"); print("b", file=sys.stderr)\n"c"',
    content: /^a\nb\n'c'$/,
  },
  { says: 'RT101: printed and shown, in order', code: 'print("a")\ndisplay("c")\n"d"', content: "a\n'c'\n'd'" },
  { says: 'RT101: what was awaited', code: 'import asyncio\nawait asyncio.sleep(0.01, "awaited")', content: "'awaited'" },
  { says: 'RT101: no value of a line that ends with a semicolon', code: '1;', content: '[Code executed successfully with no output]' },
  { says: 'RT102: a silent cell says so', code: 'silent = 1', content: '[Code executed successfully with no output]' },
  { says: 'RT103: cells keep their state', code: 'silent + 1', content: '2' },
  {
    says: 'RT104: a traceback without colours',
    code: 'def f():\n  return 1 / 0\nf()',
    // oxlint-disable-next-line no-control-regex -- there shall be none
    content: /^(?![\s\S]*\u001b)-+\nZeroDivisionError +Traceback[\s\S]*line 2[\s\S]*ZeroDivisionError: division by zero$/,
    success: false,
  },
  { says: 'RT104: a cell right after an error runs', code: 'print("on")', content: 'on' },
  { says: 'RT104: what is no Python', code: 'this is not', content: /SyntaxError: invalid syntax$/, success: false },
  {
    says: 'RT105: HTML as text',
    code: 'from IPython.display import *\ndisplay(HTML("<style>x</style><p>a&amp;b</p><b>c</b>"))',
    content: 'a&b\nc',
  },
  { says: 'RT105: Markdown as it is', code: 'display(Markdown("# head"))', content: '# head' },
  { says: 'RT105: what was cleared is gone', code: 'print(1); clear_output(); print(2)', content: '2' },
  { says: 'RT105: progress in its last state', code: 'print("1%", end="\\r"); print("99%")', content: '99%' },
  {
    says: 'RT105: text before HTML',
    code: 'class Table:\n  def __repr__(self): return "   a\\n0  1"\n  def _repr_html_(self): return "<table><tr><td>1</td></tr></table>"\nTable()',
    content: '   a\n0  1',
  },
  {
    says: 'RT105: what is shown anew',
    code: 'shown = display("one", display_id=True); shown.update("two")',
    content: "'one'\n'two'",
  },
  { says: 'RT105: help that would be paged', code: 'len?', content: /Return the number of items/ },
  { says: 'RT106: input() is an error at once', code: 'input("name? ")', content: /does not support input requests\.$/, success: false },
  {
    says: 'RT106: so is a password',
    code: 'import getpass; getpass.getpass()',
    content: /StdinNotImplementedError: getpass was called, /,
    success: false,
  },
  { says: 'RT107: commands of the shell', code: '!echo "$0 works" | cut -d" " -f2', content: 'works' },
  { says: 'RT107: output of children', code: 'import os\n_ = os.system("echo child")', content: 'child' },
  {
    says: 'RT107: all that children say, to the end, whatever bytes it is',
    code: String.raw`import subprocess
_ = subprocess.run(["bash", "-c", r"printf 'a%.0s' {1..999}; printf '\303\244\377'; seq 1 30; echo end"])`,
    content: /^a{999}\u00e4\ufffd1\n2\n[^]*\n30\nend$/,
  },
  { says: 'RT107: cells of the shell', code: '%%bash\necho from bash; pwd | xargs basename', content: 'from bash\nworkspace' },
  { says: 'RT107: files', code: '%%writefile written.txt\nsome text', content: 'Writing written.txt' },
  { says: 'RT107: what was written', code: 'open("written.txt").read()', content: "'some text\\n'" },
  {
    says: 'RT107: timing',
    code: '%timeit -n 1 -r 1 pass',
    content: /^\d.* per loop \(mean ± std\. dev\. of 1 run, 1 loop each\)$/,
  },
  {
    says: 'RT107: a thread that outlives its cell',
    code: 'import threading; go = threading.Event()\nt = threading.Thread(target=lambda: (go.wait(), print("from a thread"))); t.start()',
    content: '[Code executed successfully with no output]',
  },
  { says: 'RT107: what it prints later', code: 'go.set(); t.join(); print("and the cell")', content: 'from a thread\nand the cell' },
  { says: 'RT107: pip', code: '%pip --version', content: /^pip \d/ },
  { says: 'RT30: characters of any kind', code: 'print("ü€😀\\x1b[31mred\\x1b[0m\\x00")', content: 'ü€😀red' },
];

describe('cells', () => {
  it.each(CASES)('$says', async ({ code, content, success = true }) => {
    const seen = await cell(code);
    expect(seen.content).toMatch(content instanceof RegExp ? content : exactly(content));
    expect(seen.success).toBe(success);
    expect(seen.extras).toEqual({ code, image_urls: null });
  });

  it('RT108: the model is shown folder and interpreter, also after the cell has moved', async () => {
    const { content } = await cell('import os\nos.makedirs("sub", exist_ok=True); os.chdir("sub")', { include_extra: true });
    expect(content).toContain(`[Jupyter current working directory: ${executor.workspace}/sub]`);
    expect(content).toMatch(/\[Jupyter Python interpreter: \/usr\/bin\/python3?\]$/);
  });

  it('RT109: images are data URLs beside the text', async () => {
    const { content, extras } = await cell(`import base64\ndisplay(Image(data=base64.b64decode("${PNG}")))\nprint("seen")`);
    expect(content).toBe('[An image.]\nseen');
    expect(extras.image_urls).toEqual([`data:image/png;base64,${PNG}`]);
  });

  it('RT109: too many images are left out, and the cell says so', async () => {
    const { content, extras } = await cell(`for _ in range(20): display(Image(data=base64.b64decode("${PNG}")))`);
    expect(extras.image_urls).toHaveLength(16);
    expect(content).toContain('An image was left out');
  });

  it('RT29, EN909: of 10 MB of output both ends are shown, and the file that has all of it', async () => {
    const { content } = await cell('print("first"); print("x" * 10_000_000); print("last")', {}, 60);
    expect(content.length).toBeLessThan(30_500);
    const [, path] =
      /^first\nx+\n\[\.\.\. Observation truncated due to length: \d+ characters left out; the output is stored in (\S+) \.\.\.\]\nx+\nlast$/.exec(
        content,
      ) ?? [];
    expect(path).toBeDefined();
    expect((await cell(`all = open(${JSON.stringify(path)}).read(); print(len(all), all[:5], all[-5:].strip())`)).content).toBe(
      '10000012 first last',
    );
  });

  itInFull('RT110: of 40 MB that are printed a piece at a time both ends are shown', async () => {
    const { content } = await cell('print("first"); [print("x" * 1_000_000) for _ in range(40)]; print("last")', {}, 60);
    expect(content).toMatch(/^first\nx+\n\[\.\.\. Observation truncated due to length: \d+ characters left out.*\]\nx+\nlast$/);
  });

  itInFull('RT110: of 100 MB that are printed at once nothing is lost', async () => {
    const { content } = await cell('print("first" + "x" * 100_000_000 + "last")', {}, 60);
    const [, head = '', count, tail = ''] = /^(firstx+)\n\[\.\.\. [^:]*: (\d+) characters left out.*\]\n(x+last)$/.exec(content) ?? [];
    expect(head.length + Number(count) + tail.length).toBe(100_000_009);
  });

  itInFull('RT110: what is on its way for seconds after the answer belongs to the cell', async () => {
    // As on a machine that gives the publishing thread no time: the answer does not wait for it.
    const code = `import sys, time; sys.stdout.flush = sys.stderr.flush = lambda: None
sys.stdout.pub_thread.schedule(lambda: time.sleep(5)); display("late")`;
    expect((await cell(code)).content).toBe("'late'");
    expect((await cell('del sys.stdout.flush, sys.stderr.flush; print("next")')).content).toBe('next');
  });

  it('RT110: output comes while the cell runs', async () => {
    const code = 'import time\nfor i in range(3):\n  print(i, flush=True); time.sleep(1)';
    const lines = await executor.lines({ action: { action: 'run_ipython', args: { code }, timeout: 30 } });
    expect(lines.filter(({ type }) => type === 'output').length).toBeGreaterThan(1);
    expect(lines.flatMap((line) => (line.type === 'output' ? [line.text] : [])).join('')).toBe('0\n1\n2\n');
  });

  const late = (): string => {
    const go = join(executor.workspace, 'go');
    return `import os, time\nwhile not os.path.exists("${go}"): time.sleep(0.05)\nprint("late"); os.remove("${go}")`;
  };
  const go = (): void => writeFileSync(join(executor.workspace, 'go'), '');

  it('RT111: a quiet cell is handed back and goes on; others are refused; an empty one waits', async () => {
    expect(await cellWhileItSpeaks(late())).toMatchObject({
      content: `[The cell has no new output after 1 seconds and is still running. ${WAIT}`,
      success: false,
    });
    expect(await cell('print("other")')).toMatchObject({
      content: `[This cell was not run: another one is still running. ${WAIT}`,
      success: false,
    });
    go();
    expect((await cell('')).content).toBe('late');
    expect(await cell('')).toMatchObject({
      content: 'ERROR: No cell is running. An empty cell waits for one that was handed back.',
      success: false,
    });
  });

  it('RT111: what nobody waited for comes with the next action', async () => {
    await cellWhileItSpeaks(late());
    go();
    const all: string[] = [];
    const isRefused = ({ content }: Seen): boolean => all.push(content) > 0 && content.includes('was not run');
    await polled(
      () => cell('print("next")'),
      (seen) => !isRefused(seen),
    );
    expect(all.join('\n')).toMatch(/\[Below is the output of the previous cell\.\]\nlate\n[\s\S]*next$/);
  });

  it('RT112: a timeout interrupts; the kernel and its variables stay', async () => {
    const { content, success } = await cell('stays = 7\nwhile True: pass', {}, 3);
    expect(content).toMatch(/KeyboardInterrupt:?\s*\n\[The cell was interrupted: it did not end within 3 seconds\.\]$/);
    expect(success).toBe(false);
    expect((await cell('stays')).content).toBe('7');
  });

  it('RT113: a cancelled cell is interrupted', async () => {
    const action = { action: 'run_ipython', args: { code: 'print("begun"); time.sleep(600)', include_extra: false }, timeout: 600 };
    const lines = executor.lines({ key: 'test:cancel', action });
    await polled(
      () => executor.call('POST', '/effects/test%3Acancel/cancel'),
      async () => (await executor.call('GET', '/effects/test%3Acancel')).body.includes('"done"'),
    );
    expect((await lines).at(-1)).toMatchObject({ observation: { content: expect.stringContaining('cancelled') } });
    expect((await cell('stays')).content).toBe('7');
  });
});

describe('kernels that end', () => {
  const LOST = 'Its variables and imports are lost; the next cell runs in a new one.]';

  const ENDS = [
    [
      'os._exit',
      'import os; print("before", flush=True); time_ = __import__("time"); time_.sleep(2); os._exit(3)',
      /^before\n\[The kernel has ended \(exit code 3\)/,
    ],
    ['SIGKILL of itself', 'import os; os.kill(os.getpid(), 9)', /^\[The kernel has ended \(SIGKILL\)/],
    ['exit()', 'exit()', /^\[The kernel has ended \(exit code 0\)/],
    ['a crash of native code', 'import ctypes; ctypes.string_at(0)', /The kernel has ended \(SIGSEGV\)/],
  ] as const;

  it.each(someOf(ENDS, 2))('RT114: %s: reported at once, and the next cell works', async (_name, code, words) => {
    const { content, success } = await cell(code);
    expect(content).toMatch(words);
    expect(content.endsWith(LOST)).toBe(true);
    expect(success).toBe(false);
    expect((await cell('"works"')).content).toBe("'works'");
  });

  it('RT114: a kernel that was killed between cells: the next cell runs in a new one and says so', async () => {
    await cell('x = 1');
    await executor.run('pkill -9 -f ipykernel; while pgrep -f ipykernel >/dev/null; do sleep 0.05; done');
    const { content } = await cell('"x" in globals()');
    expect(content).toMatch(/^\[The kernel had ended since the last cell \(SIGKILL\)\. This cell runs in a new one.*\]\nFalse$/);
  });

  itInFull('RT112: a kernel that does not obey is killed, and the next cell works', async () => {
    await cell('stays = 7');
    expect(await cell('import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass', {}, 1)).toMatchObject({
      content: `[The kernel was killed: it did not end within 1 seconds, and it did not obey an interrupt. ${LOST}`,
      success: false,
    });
    expect((await cell('"stays" in globals()')).content).toBe('False');
  });

  it('RT115, RT117: a new kernel starts where the shell is, with its variables; names of the workspace do not get in its way', async () => {
    await executor.run('mkdir -p there && cd there && export TENDON_SEEN=yes');
    await executor.run('echo "raise SystemExit" | tee random.py socket.py ipykernel.py asyncio.py >/dev/null');
    await cell('exit()');
    const { content } = await cell('import os; print(os.environ["TENDON_SEEN"])', { include_extra: true });
    expect(content).toMatch(/^yes\n\[Jupyter current working directory: .*\/there\]/);
  });

  it('RT116: the code that prepares kernels runs on every start', async () => {
    expect((await cell('ready', { kernel_init_code: 'ready = 42' })).content).toBe('42');
    await cell('exit()');
    expect((await cell('ready')).content).toBe('42');
    const { content, success } = await cell('"goes on"', { kernel_init_code: '1 / 0' });
    expect(content).toMatch(/^\[The code that prepares every new kernel failed:[\s\S]*ZeroDivisionError[\s\S]*\]\n'goes on'$/);
    expect(success).toBe(true);
  });
});

const exactly = (text: string): RegExp => new RegExp(`^${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`);

/** Asks again until it holds; a deadline, not a measurement. */
async function polled<T>(ask: () => Promise<T>, holds: (seen: T) => boolean | Promise<boolean>): Promise<T> {
  for (const end = performance.now() + 90_000; ;) {
    const seen = await ask();
    if (await holds(seen)) return seen;
    if (performance.now() > end) throw new Error('it never came to this');
    await delay(50);
  }
}
