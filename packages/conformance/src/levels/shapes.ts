import assert from 'node:assert/strict';
import type { Answer } from '../target/target.ts';

/** Every key must be there with one of its types (`string|null`); more keys may be. `what` names the thing in the failure. */
export function hasTypes(value: unknown, types: Readonly<Record<string, string>>, what: string): void {
  for (const [key, wanted] of Object.entries(types)) {
    const actual = typeOf((value as Readonly<Record<string, unknown>> | null | undefined)?.[key]);
    assert.ok(wanted.split('|').includes(actual), `${what}.${key} is ${actual}, not ${wanted}: ${JSON.stringify(value)?.slice(0, 300)}`);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The answer has this status; rejects with what the server answered instead. */
export function hasStatus(answer: Answer, ...statuses: readonly number[]): void {
  assert.ok(statuses.includes(answer.status), `status ${answer.status}, not ${statuses.join(' or ')}: ${answer.text.slice(0, 300)}`);
}

export function isTexts(value: unknown, what: string): void {
  assert.ok(
    Array.isArray(value) && value.every((item) => typeof item === 'string'),
    `${what} is no list of texts: ${JSON.stringify(value)?.slice(0, 200)}`,
  );
}
