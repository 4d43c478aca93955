/** What a command does beside running, as far as its words say: each of its parts is looked at. */
import { type PlainText, t, textKey } from '../lib/language/text.ts';

export const INSIDE = textKey('Runs in the sandbox. Can change files in this workspace.');

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
];

const CONTACT = /\b(?:curl|wget|ssh|scp|rsync)\b/;

/** A question and a sentence for each effect. */
export function commandEffects(command: string): { readonly question: string; readonly consequence: string } {
  const found = EFFECTS.filter(({ of }) => of.test(command));
  const questions = found.flatMap(({ question }) => question ?? []);
  const consequences = found.flatMap(({ consequence }) => (consequence ? t(consequence) : []));
  if (CONTACT.test(command)) consequences.push(contactWords(command));
  return {
    question: questions.length > 0 ? questions.map((text) => t(text)).join(' ') : t('Run this command?'),
    consequence: consequences.length > 0 ? consequences.join(' ') : t(INSIDE),
  };
}

/** The hosts that the command names, as far as they can be read off it: a variable, or a file of addresses, names none. */
function contactWords(command: string): string {
  const named = command.matchAll(/\b(?:https?|ftp|ssh):\/\/(?:[^\s/@"']*@)?([^\s/:"'$]+)|\b[\w.-]+@([\w.-]+)/g);
  const hosts = new Set([...named].map(([, ofAddress, ofUser]) => (ofAddress ?? ofUser)!.toLowerCase()));
  return hosts.size > 0 ? t('Contacts {{hosts}}.', { hosts: [...hosts].join(', ') }) : t('Contacts another machine.');
}
