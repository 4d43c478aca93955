/**
 * What the app says, in the language that was chosen.
 *
 * A text is its own key: the English stands once, where it is shown. English is filled in here; another language brings its catalogue
 * and i18next with it when it is chosen, so nobody else loads them.
 */
import { createElement, Fragment, type ReactNode } from 'react';
import { ENGLISH_FORMS } from './english-forms.ts';
import type german from './de.json';

type Form<K extends string> = K extends `${infer Text}_${'one' | 'other'}` ? Text : K;
/** Every text there is, with its placeholders; a number called `count` chooses the form. */
export type TextKey = Form<keyof typeof german>;
/** One without placeholders. */
export type PlainText = Exclude<TextKey, `${string}{{${string}`>;

type NamesIn<K extends string> = K extends `${string}{{${infer Name}}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Values<K extends string, V> = [NamesIn<K>] extends [never] ? [] : [{ readonly [N in NamesIn<K>]: N extends 'count' ? number : V }];

/** In another language: the text of a key, filled in. */
export type Translate = (key: string, count: number | undefined, values: Readonly<Record<string, string>>) => string;

export interface Spoken {
  /** BCP 47, e.g. `zh-Hans`. */
  readonly language: string;
  /** For dates and figures: as this browser writes the language, e.g. `en-GB`. */
  readonly locale: string | undefined;
  /** `undefined`: English. */
  readonly translate: Translate | undefined;
}

let now: Spoken = { language: 'en', locale: undefined, translate: undefined };

export function spoken(): Spoken {
  return now;
}

export function speak(next: Spoken): void {
  now = next;
}

/** The text of `key` in the chosen language, with its values: what counts is written as a figure, other numbers as they are, e.g. a port. */
export function t<K extends TextKey>(key: K, ...values: Values<K, string | number>): string {
  const [given] = values as readonly (Readonly<Record<string, string | number>> | undefined)[];
  if (!given) return now.translate ? now.translate(key, undefined, {}) : key;
  const shown = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, name === 'count' ? figure(Number(value)) : String(value)]),
  );
  const count = typeof given.count === 'number' ? given.count : undefined;
  return now.translate ? now.translate(key, count, shown) : inEnglish(key, count, shown);
}

const MARK = /\uE000(\d+)\uE001/;

/** As `t`, where a value is more than text, e.g. a link in the middle of its sentence. */
export function tx<K extends TextKey>(key: K, ...values: Values<K, ReactNode>): ReactNode {
  const nodes: ReactNode[] = [];
  const marked = Object.entries(values[0] ?? {}).map(([name, node]) => [
    name,
    name === 'count' ? node : `\uE000${nodes.push(node as ReactNode) - 1}\uE001`,
  ]);
  const parts = t(key, ...([Object.fromEntries(marked)] as unknown as Values<K, string | number>)).split(MARK);
  return parts.map((part, index) => createElement(Fragment, { key: index }, index % 2 === 1 ? nodes[Number(part)] : part));
}

/** Marks a text where it is not shown yet, e.g. in a table: what shows it calls `t`. */
export function textKey<K extends PlainText>(key: K): K {
  return key;
}

/** Marks a text that a server writes in English: `valuesIn` finds its values, and `t` shows it. */
export function textPattern<K extends TextKey>(key: K): K {
  return key;
}

/** What stands in the places of a text; `undefined`: the English is another text. */
export function valuesIn(key: TextKey, english: string): Readonly<Record<string, string>> | undefined {
  let pattern = patterns.get(key);
  if (!pattern) patterns.set(key, (pattern = patternOf(key)));
  const found = pattern.exec(english);
  return found ? { ...found.groups } : undefined;
}

/** Each is tried with every text that a server writes, and made once. */
const patterns = new Map<TextKey, RegExp>();

function patternOf(key: TextKey): RegExp {
  const parts = key
    .split(/\{\{(\w+)\}\}/)
    .map((part, index) => (index % 2 === 1 ? `(?<${part}>.+?)` : part.replaceAll(/[.?+*()|[\]^$\\]/g, String.raw`\$&`)));
  return new RegExp(`^${parts.join('')}$`, 's');
}

/** @internal */
export function inEnglish(key: string, count: number | undefined, values: Readonly<Record<string, string>>): string {
  const form = (count === 1 && ENGLISH_FORMS[key]) || key;
  return form.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}

/** `2,014` as the language writes it. */
export function figure(n: number, digits?: number): string {
  const name = `${now.locale ?? now.language} ${digits}`;
  let format = formats.get(name);
  if (!format) {
    const options = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
    formats.set(name, (format = new Intl.NumberFormat(now.locale ?? now.language, options)));
  }
  return format.format(n);
}

/** A formatter costs more to make than to use a thousand times. */
const formats = new Map<string, Intl.NumberFormat>();
