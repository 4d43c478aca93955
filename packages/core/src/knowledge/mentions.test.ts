import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mentions, searchable } from './mentions.ts';

const finds = (text: string, trigger: string): boolean => mentions(searchable(text), trigger);

it.each([
  ['Move us to POSTGRES please', 'postgres'],
  ['(postgres)', 'Postgres'],
  ['docker-compose up', 'docker'],
  ['open a pull\n request', 'Pull Request'],
  ['in C++, please', 'c++'],
  ['le cafe\u0301 est fermé', 'CAFÉ'],
  ['请检查数据库连接', '数据库'],
  ['用postgres连接', 'postgres'],
  ['über Straßen', 'straßen'],
  ['edit .env now', '.env'],
  ['please /deploy', '/deploy'],
  ['/deploy, then wait', '/deploy'],
  ['see packages/web/src/app.tsx', 'packages/web'],
])('EN800: %j mentions %j', (text, trigger) => expect(finds(text, trigger)).toBe(true));

it.each([
  ['the latest greatest', 'test'],
  ['pytest', 'test'],
  ['testing', 'test'],
  ['naïve', 'na'],
  ['mysql', 'sql'],
  ['postgres_url', 'postgres'],
  ['see docs/deploy', '/deploy'],
  ['/deploy-all', '/deploy'],
  ['/deploy/now', '/deploy'],
  ['cat /deploy/x', '/deploy'],
  ['anything', ' '],
  ['packages/website', 'packages/web'],
])('EN800: %j does not mention %j', (text, trigger) => expect(finds(text, trigger)).toBe(false));

it('EN800: a trigger between spaces is found whatever it is, and any text is searched', () => {
  const unit = fc.constantFrom('a', 'B', 'é', '\u0301', '数', 'İ', 'ß', '1', '_', '.', '-', ' ', '\n', '𝒳', '\uD800');
  const word = fc.string({ unit, minLength: 1, maxLength: 8 });
  const isFound = (trigger: string): boolean => searchable(trigger).trim() === '' || finds(`, ${trigger} ,`, trigger.trim());
  fc.assert(fc.property(word, (trigger) => /^\s*\u0301/.test(trigger) || isFound(trigger)));
  fc.assert(fc.property(fc.string({ unit }), word, (text, trigger) => typeof finds(text, trigger) === 'boolean'));
});

it('EN800: a trigger that is everywhere inside words costs a bounded number of looks', () => {
  expect(finds(`${'ab'.repeat(100_000)} a`, 'a')).toBe(false);
});
