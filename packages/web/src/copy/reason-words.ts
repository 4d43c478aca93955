/** Why an action waits for a person. The server's sentences are English; those that are known here are shown in the reader's language. */
import { SHELL_PROBLEMS } from './shell-problems.ts';
import { t, type TextKey, textPattern, valuesIn } from '../lib/language/text.ts';

/** As the policy, its reader of shell lines and the hooks write them (`core/src/policy`); the first that fits counts. */
const REASONS: readonly TextKey[] = [
  textPattern('every action asks'),
  textPattern('the risk is high'),
  textPattern('the risk is not known'),
  textPattern('no rule is about it'),
  textPattern('no rule allows `{{name}}`'),
  textPattern('no rule allows it to write {{file}}'),
  textPattern('a rule is about {{rule}}'),
  textPattern('a rule asks about {{rule}}, which the search would read'),
  textPattern('it is too long to be judged'),
  textPattern('it changes too many files to be judged'),
  textPattern('it is input to a program'),
  textPattern('what it does cannot be judged by rules'),
  textPattern('it cannot be read: {{reason}}'),
  textPattern('it is nested too deeply'),
  textPattern('a file that is known only when it runs'),
  textPattern('`{{name}}=` may change what runs'),
  textPattern('a program that is known only when it runs'),
  textPattern('it runs too many programs'),
  textPattern('`{{name}}` may set a variable'),
  textPattern('a condition that computes'),
  textPattern('`{{name}}` changes the shell itself'),
  textPattern('`{{name}}` changes what runs later'),
  textPattern('`{{name}}` may run a program'),
  textPattern('a declaration that is not understood'),
  textPattern('`{{name}}` of a text that is known only when it runs'),
  textPattern('`{{name}}` reads commands in a way of its own'),
  textPattern('`{{name}}` reads a part of it in another way'),
  textPattern('a shell that reads its commands from its input'),
  textPattern('an option of `{{name}}` that is not understood'),
  textPattern('`{{name}}` without a program'),
  textPattern('`{{name}}` runs something that has no end'),
  textPattern('`{{name}}` has a word that is known only when it runs'),
  textPattern('what `{{command}}` runs cannot be judged'),
  textPattern('what `{{command}}` does cannot be judged'),
  textPattern('`{{name}}` runs a text that cannot be judged'),
  textPattern('`{{name}}` runs what is no file'),
  textPattern('a command on another machine'),
  textPattern('history expansion'),
  textPattern('a function'),
  textPattern('a condition with a word that is cut by a line end'),
  textPattern('a reserved word that is cut by a line end'),
  textPattern('a subscript'),
  textPattern('the secret {{name}} may go to {{hosts}} alone, not to {{host}}'),
  textPattern('the hook “{{name}}” asks: {{words}}'),
];

/** One that is not known is shown as it came. */
export function reasonWords(reason: string): string {
  for (const key of REASONS) {
    const values = valuesIn(key, reason);
    if (values) return filled(key, values);
  }
  return reason;
}

/** @internal Whether it is shown in every language. */
export function isKnownReason(reason: string): boolean {
  return REASONS.some((key) => valuesIn(key, reason) !== undefined);
}

const OPEN_PAGE = textPattern('the page that is open, which may be another');

/** What a rule is about, where a secret would go and why a line cannot be read are words too. */
function filled(key: TextKey, { rule, host, reason, ...rest }: Readonly<Record<string, string>>): string {
  const words = {
    ...rest,
    ...(rule !== undefined && { rule: ruleWords(rule) }),
    ...(reason !== undefined && { reason: problemWords(reason) }),
    ...(host !== undefined && { host: host === OPEN_PAGE ? t(OPEN_PAGE) : host }),
  };
  return t(key, words as never);
}

function problemWords(problem: string): string {
  const key = SHELL_PROBLEMS.find((each) => each === problem);
  return key === undefined ? problem : t(key);
}

/** `` `git` with the path /workspace ``: programs, paths and hosts stay as they are. */
function ruleWords(about: string): string {
  const [first, more] = splitOnce(about);
  const path = /^the path (.+)$/s.exec(first)?.[1];
  const host = /^the host (.+)$/s.exec(first)?.[1];
  const rule = path !== undefined ? t('the path {{path}}', { path }) : host !== undefined ? t('the host {{host}}', { host }) : first;
  return more === undefined ? rule : t('{{rule}} with {{more}}', { rule, more: ruleWords(more) });
}

function splitOnce(about: string): readonly [string, string?] {
  const at = about.search(/ with (?=`|the path |the host )/);
  return at < 0 ? [about] : [about.slice(0, at), about.slice(at + ' with '.length)];
}
