/** Arguments by which a program runs another, or a program text of its own: what they do cannot be judged. */
import { gitDoubt } from './git-doubt.ts';
import { isBeginningOf } from './long-option.ts';
import type { Word } from './shell-script.ts';

/** In any program: options named after what they run. */
const RUNS =
  /^--?(?:[\w-]+-)?(?:exec\w*|command|cmd|shell|program|eval|rsh|pager|editor|plugins?|preload|wrapper|hooks?|interpreter|script-shell|node-options|config(?:-env|-file)?|upload-pack|receive-pack|extcmd|toolexec|init-command|startup-file)(?:=|$)/;

const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|node(?:js)?|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua(?:jit)?[\d.]*|deno|bun|tclsh|expect|julia|guile|Rscript|R|irb|pwsh|osascript|scala|groovy|jshell)$/;
const SHELLS = /^(?:bash|sh|dash|ash|zsh|ksh|mksh|rbash|fish|csh|tcsh)$/;

/** By program: arguments that make it run something, connect to a place of their own, or write. */
const BY_PROGRAM: Readonly<Record<string, RegExp>> = {
  ack: /^--(?:pager|ackrc)/,
  ag: /^--pager/,
  apt: /^-o|^--option|^-c/,
  'apt-get': /^-o|^--option|^-c/,
  cargo: /^--(?:config|manifest-path)|^-Z/,
  curl: /^-[A-Za-z]*[KxP]|^--(?:config|proxy\w*|preproxy|socks\w*|resolve|connect-to|unix-socket|abstract-unix-socket|doh-url|interface|dns-\w+)/,
  docker: /^(?:run|exec|build|compose|start|load|create|cp)$/,
  fd: /^-[a-zA-Z]*[xX]|^--exec/,
  find: /^-(?:delete|fprint\w*|fls)$/,
  gcc: /^-(?:fplugin|specs|wrapper|B)|^@/,
  go: /^-(?:exec|toolexec|overlay|vettool|modfile|C|ldflags|gcflags|asmflags)/,
  less: /^\+|^-[a-zA-Z]*[kotOT]|^--(?:lesskey|log-file|LOG-FILE|tag)/,
  make: /^[A-Za-z_]\w*[:+?!]*=|^--eval|^-[a-zA-Z]*[fIEC]|^--(?:file|makefile|directory|include-dir)/,
  man: /^-[A-Za-z]*[PHCX]|^--(?:pager|html|config-file|browser)/,
  more: /^\+/,
  npm: /^--?(?:script-shell|node-options|prefix|userconfig|globalconfig|C|init-module|git|viewer)/,
  pip: /^--(?:config-settings|index-url|extra-index-url|find-links|proxy)/,
  pytest: /^-[vqxslh]*[cpo]|^--(?:config-file|rootdir|override-ini|confcutdir|pdbcls|pyargs|import-mode|basetemp)/,
  rg: /^--(?:pre|hostname-bin|search-zip)/,
  rsync: /^-[a-zA-Z]*e|^--(?:rsh|rsync-path|daemon|config|write-batch|remove-source-files|delete)|::/,
  scp: /^-[a-zA-Z0-9]*[oFSDJ]/,
  sftp: /^-[a-zA-Z0-9]*[oFSDJb]/,
  sort: /^--comp|^-[a-zA-Z]*[oT]|^--output|^--temp/,
  split: /^--filter/,
  ssh: /^-[a-zA-Z0-9]*[oFJwLRDEIS]/,
  tar: /^--(?:to-command|checkpoint|use-compress|rsh|rmt|info-script|new-volume|null|files-from)|^-[a-zA-Z]*[IF]/,
  tcpdump: /^-[a-zA-Z]*[zw]/,
  tree: /^-[a-zA-Z]*[oR]|^--output/,
  wget: /^-[A-Za-z]*[eaio]|^--(?:execute|config|use-askpass|input-file|output-file|append-output)/,
  xxd: /^-[a-z]*r/,
  yarn: /^--(?:cwd|use-yarnrc|script-shell)/,
  zip: /^-[a-zA-Z]*T|^--(?:test|unzip)/,
};
/** The same options in full, of programs that take the beginning of one for the whole. */
const LONG: Readonly<Record<string, string>> = {
  curl: 'config proxy preproxy resolve connect-to unix-socket abstract-unix-socket doh-url interface',
  less: 'lesskey-file lesskey-src log-file LOG-FILE tag tag-file',
  make: 'eval file makefile directory include-dir',
  man: 'pager html config-file browser preprocessor',
  npm: 'script-shell node-options prefix userconfig init-module viewer',
  sort: 'compress-program output temporary-directory',
  split: 'filter',
  tar: 'to-command checkpoint-action use-compress-program rsh-command rmt-command info-script new-volume-script files-from',
  wget: 'execute config use-askpass input-file output-file append-output',
  zip: 'test unzip-command',
};
/** Run whatever they are given, in ways of their own. */
const OPAQUE = new Set([
  'parallel',
  'watch',
  'script',
  'su',
  'runuser',
  'chroot',
  'nsenter',
  'unshare',
  'flock',
  'strace',
  'ltrace',
  'gdb',
  'entr',
  'screen',
  'tmux',
  'at',
  'batch',
  'crontab',
  'systemd-run',
  'start-stop-daemon',
  'dbus-run-session',
  'xvfb-run',
  'npx',
  'pnpx',
  'bunx',
  'uvx',
  'pipx',
  'vi',
  'vim',
  'nvim',
  'view',
  'emacs',
  'nano',
  'ed',
  'ex',
  'm4',
  'dc',
  'socat',
  'nc',
  'ncat',
  'netcat',
  'telnet',
  'sqlite3',
  'mysql',
  'psql',
  'ld.so',
  'capsh',
  'setpriv',
  'prlimit',
  'taskset',
  'chrt',
  'numactl',
  'pkexec',
  'sg',
  'newgrp',
  'firejail',
  'bwrap',
  'proot',
  'fakeroot',
  'eatmydata',
  'rlwrap',
  'unbuffer',
  'daemonize',
  'setarch',
  'linux64',
  'linux32',
  'i386',
  'x86_64',
  'choom',
  'cpulimit',
  'tsp',
  'ts',
  'faketime',
  'perf',
  'valgrind',
  'rr',
  'hyperfine',
  'dtruss',
  'run-parts',
  'ssh-agent',
  'dbus-launch',
  'gpg-agent',
  'git-shell',
  'rbash',
  'whiptail',
  'dialog',
  'cscope',
  'ctags',
]);

const AWK = /^(?:g|m|n)?awk$|^original-awk$/;
const AWK_RUNS = /system|getline|[|>@]|close|fflush|nextfile/;
/** Prints, deletes and plain substitutions; the others can write and run. */
const SED =
  /^(?:(?:\d+|\$|\/[^/\n\\]*\/)(?:,(?:\d+|\$|\/[^/\n\\]*\/))?)?\s*(?:[pdq=]|s([/|#,:])(?:(?!\1)[^\n\\]|\\[^\n])*\1(?:(?!\1)[^\n\\]|\\[^\n])*\1[gpiI\d]*)$/;

export function isShell(name: string): boolean {
  return SHELLS.test(name);
}

/** What stands against judging the program by its words, if anything. */
export function programDoubt(name: string, args: readonly Word[]): string | undefined {
  if (args.some(({ known }) => known === 'unknown')) return `\`${name}\` has a word that is known only when it runs`;
  const texts = args.map(({ text }) => text);
  if (AWK.test(name)) return awkDoubt(name, texts);
  if (OPAQUE.has(name)) return `what \`${name}\` runs cannot be judged`;
  if (INTERPRETERS.test(name) && !isScriptCall(name, texts)) return `\`${name}\` runs a text that cannot be judged`;
  if (name === 'sed') return sedDoubt(texts);
  if (name === 'git') return gitDoubt(texts);
  if (name === 'ssh' && texts.filter((text) => !text.startsWith('-')).length > 1) return 'a command on another machine';
  if (/^(?:source|\.)$/.test(name) || SHELLS.test(name)) return isFile(texts[0]) ? undefined : `\`${name}\` runs what is no file`;
  // Its first word holds options also without a dash.
  if (name === 'tar' && /^[A-Za-z]*[IF]/.test(texts[0] ?? '')) return `what \`tar ${texts[0]}\` does cannot be judged`;
  const found = texts.find((text) => RUNS.test(text) || runsBy(name, text));
  return found === undefined ? undefined : `what \`${name} ${found}\` does cannot be judged`;
}

function runsBy(name: string, text: string): boolean {
  if (Object.hasOwn(BY_PROGRAM, name) && BY_PROGRAM[name]!.test(text)) return true;
  return Object.hasOwn(LONG, name) && isBeginningOf(text, LONG[name]!);
}

/** `python file`, `python -m module`: a program by name; everything else is a text. */
function isScriptCall(name: string, [first, second]: readonly string[]): boolean {
  if (first === undefined) return false;
  if (/^(?:--version|-V|--help)$/.test(first)) return true;
  if (first === '-m' && name.startsWith('py')) return second !== undefined && /^\w/.test(second) && !OPAQUE_MODULES.has(second);
  return isFile(first) && !(/^(?:deno|bun)$/.test(name) && /^(?:eval|x|exec|repl)$/.test(first));
}

function isFile(text: string | undefined): boolean {
  return text !== undefined && !text.startsWith('-') && !/^\/(?:dev|proc)\b/.test(text);
}

const OPAQUE_MODULES = new Set(['timeit', 'trace', 'pdb', 'profile', 'cProfile', 'code', 'runpy', 'idlelib', 'asyncio']);

function awkDoubt(name: string, texts: readonly string[]): string | undefined {
  let at = 0;
  while (/^-[Fv]/.test(texts[at] ?? '')) at += /^-[Fv]$/.test(texts[at]!) ? 2 : 1;
  const program = texts[at] ?? '-';
  const isPlain = !program.startsWith('-') && !AWK_RUNS.test(program) && !texts.slice(at + 1).some((text) => text.startsWith('-'));
  return isPlain ? undefined : `\`${name}\` runs a text that cannot be judged`;
}

function sedDoubt(texts: readonly string[]): string | undefined {
  const doubt = '`sed` runs a text that cannot be judged';
  const scripts: string[] = [];
  let at = 0;
  for (; at < texts.length && texts[at]!.startsWith('-'); at += 1) {
    if (texts[at] === '-e' && texts[at + 1] !== undefined) scripts.push(texts[(at += 1)]!);
    else if (!/^-[nErsuz]+$/.test(texts[at]!)) return doubt;
  }
  if (scripts.length === 0) scripts.push(texts[at++] ?? '');
  return scripts.every((script) => SED.test(script)) && !texts.slice(at).some((text) => text.startsWith('-')) ? undefined : doubt;
}
