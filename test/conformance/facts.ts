import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from '@tendon/protocol';

/** What one release wrote for one kind: its top-level keys in order, and the JSON types under every path. */
export interface Fact {
  readonly keys: readonly string[];
  readonly types: Readonly<Record<string, string>>;
}

export interface Facts {
  readonly release: string;
  readonly actions: Readonly<Record<string, Fact>>;
  readonly observations: Readonly<Record<string, Fact>>;
  readonly full?: Fact;
}

/** `action run` → keys of its body. */
export type KeysByKind = Readonly<Record<string, readonly string[]>>;

export function readFacts(release: string): Facts {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'facts', `${release}.json`), 'utf8')) as Facts;
}

/** `action run`, `observation run`. */
export function nameOf(frame: Frame): string {
  return typeof frame.action === 'string' ? `action ${frame.action}` : `observation ${String(frame.observation)}`;
}

export function factOf(facts: Facts, frame: Frame): Fact | undefined {
  return typeof frame.action === 'string' ? facts.actions[frame.action] : facts.observations[String(frame.observation)];
}

/** Problems with the keys of `args` or `extras`: what the release did not write and is not allowed, and what it wrote and is missing. */
export function keyProblems(frame: Frame, fact: Fact, allowed: KeysByKind, gone: KeysByKind = {}): string[] {
  const name = nameOf(frame);
  const body = Object.keys((frame.args ?? frame.extras) as Frame);
  const wanted = bodyKeys(fact);
  const extra = body.filter((key) => !wanted.includes(key) && !allowed[name]?.includes(key));
  const missing = wanted.filter((key) => !body.includes(key) && !gone[name]?.includes(key));
  return [...extra.map((key) => `${name}: unexpected ${key}`), ...missing.map((key) => `${name}: missing ${key}`)];
}

/** Paths whose type the release never wrote there. `nullable` paths may be null beside. */
export function typeProblems(frame: Frame, fact: Fact, nullable: readonly string[] = []): string[] {
  return Object.entries(typesOf(frame, 4))
    .filter(([path, type]) => path in fact.types && !fits(type, fact.types[path]!) && !(type === 'null' && nullable.includes(path)))
    .map(([path, type]) => `${nameOf(frame)}: ${path} is ${type}, not ${fact.types[path]}`);
}

/** A key that the release only ever wrote as `null` may hold anything. */
function fits(type: string, fact: string): boolean {
  return fact === 'null' || fact.split('|').includes(type);
}

function bodyKeys(fact: Fact): string[] {
  return Object.keys(fact.types).flatMap((path) => /^(?:args|extras)\.([^.[]+)$/.exec(path)?.[1] ?? []);
}

function typesOf(frame: Frame, depth: number, prefix = ''): Readonly<Record<string, string>> {
  const entries = Object.entries(frame).flatMap(([key, value]): [string, string][] => {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    const inner = depth > 1 && type === 'object' ? Object.entries(typesOf(value as Frame, depth - 1, `${prefix}${key}.`)) : [];
    return [[prefix + key, type], ...inner];
  });
  return Object.fromEntries(entries);
}
