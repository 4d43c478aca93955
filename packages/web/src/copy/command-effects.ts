/** What a command does beside running, as far as its words say: each of its parts is looked at. */
import { type PlainText, t, textKey } from '../lib/language/text.ts';

export const INSIDE = textKey('It runs in the sandbox; files in the workspace can change.');

interface Effect {
  readonly of: RegExp;
  readonly question?: PlainText;
  readonly consequence?: PlainText;
}

/** Where a command begins: in the line, behind another one, and behind what is set for it. */
const START = String.raw`(?:^|[;&|(\n])\s*(?:\w+=\S*\s+|(?:sudo|env|time|nohup)\s+)*`;
const begins = (pattern: string): RegExp => new RegExp(START + pattern);

const EFFECTS: readonly Effect[] = [
  {
    of: begins(String.raw`git(?:\s+-[cC]\s+\S+)*\s+push\b`),
    question: textKey('Push the branch?'),
    consequence: textKey('Leaves this machine: the commits become visible to everyone who can read the repository.'),
  },
  {
    of: begins(
      String.raw`(?:(?:npm|pnpm|yarn(?:\s+npm)?|bun|cargo|poetry|uv)\s+publish|twine\s+upload|gem\s+push|(?:docker|podman)\s+push)\b`,
    ),
    question: textKey('Publish this?'),
    consequence: textKey('Leaves this machine: what is published can be downloaded by others, and often cannot be taken back.'),
  },
  {
    of: /\brm\s+-/,
    question: textKey('Delete these files?'),
    consequence: textKey('Deleted files that are not in git are gone for good.'),
  },
  { of: begins(String.raw`(?:npm|pnpm|yarn|pip|apt|apt-get|cargo)\s+(?:install|add|i)\b`), question: textKey('Install this?') },
  { of: /\b(?:curl|wget|ssh|scp|rsync)\b/, consequence: textKey('It talks to another machine.') },
];

/** A question and a sentence for each effect. */
export function commandEffects(command: string): { readonly question: string; readonly consequence: string } {
  const found = EFFECTS.filter(({ of }) => of.test(command));
  const questions = found.flatMap(({ question }) => question ?? []);
  const consequences = found.flatMap(({ consequence }) => consequence ?? []);
  return {
    question: questions.length > 0 ? joined(questions) : t('Run this command?'),
    consequence: consequences.length > 0 ? joined(consequences) : t(INSIDE),
  };
}

const joined = (texts: readonly PlainText[]): string => texts.map((text) => t(text)).join(' ');
