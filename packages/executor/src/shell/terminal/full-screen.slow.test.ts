import { someOf } from '@tendon/testing';
import { expect, it } from 'vitest';
import { startExecutor } from '../../testing/start-executor.ts';

type Step = readonly [command: string, content: RegExp, input?: 'input'];

const NEXT: readonly Step[] = [
  ['echo "next $(stty size)"', /next 50 1000$/],
  ['cat', /^$/],
  ['echoed once', /^echoed once$/, 'input'],
  ['C-d', /^$/, 'input'],
];

/** Programs with the screen to themselves: what a person would see, driven with keys, and a sound shell after them. */
const PROGRAMS: readonly { readonly name: string; readonly steps: readonly Step[] }[] = [
  {
    name: 'vim',
    steps: [
      ['printf "one\\ntwo\\n" > text; vim.tiny text', /^one\ntwo\n~\n[^]*"text" 2L, 8[BC]/],
      ['Down', /^one\ntwo\n[^]*2,1/, 'input'],
      ['othree', /^one\ntwo\nthree\n/, 'input'],
      ['Escape', /^one\ntwo\nthree\n/, 'input'],
      [':wq', /^(?!one)/, 'input'],
      ['cat text', /^one\ntwo\nthree$/],
    ],
  },
  {
    name: 'vim, killed',
    steps: [
      ['vim.tiny text', /^~|^\n~|~\n~/],
      ['C-z', /Stopped/, 'input'],
      ['kill -9 %1; sleep 0.3; jobs; echo killed', /killed/],
    ],
  },
  {
    name: 'less',
    steps: [
      ['seq 1 500 > numbers; less numbers', /^1\n2\n[^]*\n49\nnumbers$/],
      ['C-f', /^50\n[^]*\n98\n:$/, 'input'],
      ['PageUp', /^1\n[^]*\n49\n:$/, 'input'],
      ['/^300', /^300\n301\n/, 'input'],
      ['q', /^$/, 'input'],
    ],
  },
  {
    name: 'top',
    steps: [
      ['top -d 60', /^top - .*\nTasks:[^]*PID USER/],
      ['q', /^$/, 'input'],
    ],
  },
  {
    name: 'tmux',
    steps: [
      ['tmux -f /dev/null -L test new -s named "bash --norc"', /[$#][^]*\[named\]/],
      ['echo $((6 * 7))', /echo \$\(\(6 \* 7\)\)\n42\n[^]*\[named\]/, 'input'],
      ['exit', /^\[exited\]$/, 'input'],
    ],
  },
  {
    name: 'nano',
    steps: [
      ['nano -I written', /GNU nano[^]*\^X Exit/],
      ['by hand', /by hand/, 'input'],
      ['C-o', /File Name to Write: written/, 'input'],
      ['Enter', /Wrote \d lines?/, 'input'],
      ['C-x', /^(?!.*GNU)/, 'input'],
      ['cat written', /^by hand$/],
    ],
  },
  {
    name: 'reset and clear',
    steps: [
      ['echo gone; tput clear; echo left', /^left$/],
      ['tput reset; echo left', /^left$/],
    ],
  },
];

// At once: what takes time is to wait. A screen is looked at when it has been silent for long enough to draw it on a busy machine.
it.concurrent.each(someOf(PROGRAMS, 3))('RT38, RT39: $name', async ({ steps }) => {
  const executor = await startExecutor({ limits: { noOutputTimeoutSeconds: 4 } });
  try {
    for (const [command, content, input] of [...steps, ...NEXT]) {
      const seen = await executor.run(command, input ? { is_input: true } : {});
      expect({ command, content: seen.content }).toEqual({ command, content: expect.stringMatching(content) });
    }
  } finally {
    await executor.kill();
  }
});
