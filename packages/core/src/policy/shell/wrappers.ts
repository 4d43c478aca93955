/** Programs that do nothing but run the program in their arguments: their options, so that the program can be found behind them. */
import type { Word } from './shell-script.ts';

export interface Wrapper {
  /** Options alone, and the beginnings of those that hold their value. */
  readonly flags?: RegExp;
  /** Options whose value is the next word. */
  readonly valued?: readonly string[];
  /** Words before the program, behind the options. */
  readonly operands?: number;
  /** Variables may stand before the program. */
  readonly assigns?: boolean;
  /** It adds arguments that are known only when it runs. */
  readonly appends?: boolean;
  /** What it does to the program is itself to be allowed: it runs with other rights. */
  readonly isJudged?: boolean;
}

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: {},
  busybox: {},
  command: { flags: /^-p$/ },
  doas: { flags: /^-n$/, valued: ['-u'], isJudged: true },
  env: { flags: /^(?:-|-i|-0|--ignore-environment|--null|--unset=\w+)$/, valued: ['-u', '--unset'], assigns: true },
  exec: { flags: /^-[cl]+$/, valued: ['-a'] },
  ionice: { flags: /^(?:-t|-[cn]\d)$/, valued: ['-c', '-n'] },
  nice: { flags: /^(?:-n?-?\d+|--adjustment=-?\d+)$/, valued: ['-n', '--adjustment'] },
  nohup: {},
  setsid: { flags: /^(?:-[cfw]+|--ctty|--fork|--wait)$/ },
  stdbuf: { flags: /^(?:-[ioe][L\d]\w*|--(?:input|output|error)=\w+)$/, valued: ['-i', '-o', '-e'] },
  sudo: { flags: /^-[nEHSkbA]+$/, valued: ['-u', '-g', '--user', '--group'], assigns: true, isJudged: true },
  time: { flags: /^-[pv]$/ },
  timeout: {
    flags: /^(?:-v|--foreground|--preserve-status|--verbose|-[ks][\w.]+|--(?:kill-after|signal)=[\w.]+)$/,
    valued: ['-k', '-s', '--kill-after', '--signal'],
    operands: 1,
  },
  toybox: {},
  xargs: {
    flags: /^(?:-[0rtpx]+|-[nPLsId].+|--(?:null|no-run-if-empty|verbose|exit)|--(?:max-args|max-procs|max-lines|delimiter|replace)=.*)$/,
    valued: ['-n', '-P', '-L', '-s', '-d', '-I', '-E', '-a', '--max-args', '--max-procs', '--arg-file', '--delimiter'],
    appends: true,
  },
};

/** The words from the program on, with the variables before it; undefined where an option is not understood. */
export function behindWrapper(
  { flags, valued = [], operands = 0, assigns = false }: Wrapper,
  args: readonly Word[],
): { readonly assignments: readonly Word[]; readonly words: readonly Word[] } | undefined {
  let at = 0;
  for (; at < args.length && args[at]!.text.startsWith('-') && args[at]!.known === 'literal'; at += 1) {
    const { text } = args[at]!;
    if (text === '--') {
      at += 1;
      break;
    }
    if (flags?.test(text)) continue;
    if (!valued.includes(text) || args[at + 1]?.known !== 'literal') return undefined;
    at += 1;
  }
  at += operands;
  if (args.slice(0, at).some(({ known }) => known !== 'literal')) return undefined;
  const from = at;
  if (assigns) while (args[at]?.known === 'literal' && args[at]!.text.includes('=')) at += 1;
  return { assignments: args.slice(from, at), words: args.slice(at) };
}
