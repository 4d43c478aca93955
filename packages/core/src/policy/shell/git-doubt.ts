/** Options and commands by which git runs another program: what they do cannot be judged. */
import { isBeginningOf } from './long-option.ts';

/** Options by which git runs what it is given, wherever they stand. */
const GIT_RUNS =
  /^(?:-c|--c(?:o(?:n(?:f(?:i(?:g(?:-env?)?)?)?)?)?)?|--exec.*|--git-dir.*|--work-tree.*|--namespace.*|--super-prefix.*|--upload-.*|--receive-.*|--exe.*|-x|-u|--ext.*|--tool.*|--template.*|--open-files.*|-O.*|--output.*|--separate-git-dir.*|--textconv|--ext-diff|--paginate|--gpg-sign.*|-S.*|--edit|-e|--strategy.*|--smtp.*|--sendmail.*|--trailer.*|--recurse-submodules.*|--filter.*)$|^-c./;
/** Long ones, of which git takes the beginning for the whole. `--text` is one of its own. */
const GIT_LONG =
  'exec upload-pack receive-pack ext-diff textconv output output-directory open-files-in-pager template separate-git-dir strategy ' +
  'edit edit-description trailer recurse-submodules recursive filter config gpg-sign extcmd tool smtp-server sendmail-cmd';
/** Those that run, change what runs later, or stand for others. */
const GIT_OPAQUE = new Set([
  'bisect',
  'config',
  'credential',
  'daemon',
  'difftool',
  'filter-branch',
  'gui',
  'hook',
  'instaweb',
  'maintenance',
  'merge-index',
  'mergetool',
  'send-email',
  'shell',
  'submodule',
  'upload-pack',
  'receive-pack',
  'var',
  'web--browse',
  'for-each-repo',
  'remote-ext',
  'fast-import',
  'replay',
]);

/** What stands against judging a call of git by its words, if anything. */
export function gitDoubt(texts: readonly string[]): string | undefined {
  const { subcommand, options, rest } = gitWords(texts);
  const risky = [...options, ...rest].find(
    (text) => (GIT_RUNS.test(text) && !(text === '-u' && subcommand === 'push')) || text.includes('::') || isAbbreviated(text),
  );
  if (risky !== undefined) return `what \`git ${risky}\` does cannot be judged`;
  if (subcommand !== undefined && GIT_OPAQUE.has(subcommand)) return `what \`git ${subcommand}\` runs cannot be judged`;
  return options.every((option) => /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--version|--help|-C|-v|-h)$/.test(option))
    ? undefined
    : 'an option of `git` that is not understood';
}

function isAbbreviated(text: string): boolean {
  return text !== '--text' && isBeginningOf(text, GIT_LONG);
}

/** `git -C folder status -s` is `git status -s` in that folder. */
export function gitWords(texts: readonly string[]): {
  readonly options: readonly string[];
  readonly folders: readonly string[];
  readonly subcommand: string | undefined;
  readonly rest: readonly string[];
} {
  const options: string[] = [];
  const folders: string[] = [];
  let at = 0;
  for (; texts[at]?.startsWith('-'); at += 1) {
    options.push(texts[at]!);
    if (texts[at] === '-C' || texts[at] === '-c') folders.push(texts[(at += 1)] ?? '');
  }
  return { options, folders, subcommand: texts[at], rest: texts.slice(at + 1) };
}
