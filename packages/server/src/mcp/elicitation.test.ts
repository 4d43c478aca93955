import { expect, it } from 'vitest';
import { elicit } from './elicitation.ts';

const form = (properties: object, required: readonly string[] = []) => ({
  message: 'Please.',
  requestedSchema: { type: 'object', properties, required },
});

/** A person who gives these answers, in order, and then none. */
async function answered(params: unknown, ...words: readonly string[]) {
  const [left, asked] = [[...words], [] as { content: string; choices: readonly string[] }[]];
  const answer = await elicit(params, 'shop', async (question) => {
    asked.push(question);
    return left.shift();
  });
  return { answer, asked };
}

it('EN907: each field is a question of its own, and its answer has the type that is asked for', async () => {
  const fields = {
    name: { type: 'string', minLength: 2 },
    seats: { type: 'integer', minimum: 1, maximum: 4, title: 'Seats', description: 'How many' },
    window: { type: 'boolean' },
    meal: {
      type: 'string',
      oneOf: [
        { const: 'v', title: 'Vegetarian' },
        { const: 'n', title: 'None' },
      ],
    },
  };
  const { answer, asked } = await answered(form(fields, ['name', 'seats']), 'Ada', '2', 'no', 'VEGETARIAN');
  expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', seats: 2, window: false, meal: 'v' } });
  expect(asked.map(({ choices }) => choices)).toEqual([
    ['Decline'],
    ['Decline'],
    ['Yes', 'No', 'Skip', 'Decline'],
    ['Vegetarian', 'None', 'Skip', 'Decline'],
  ]);
  expect(asked[1]!.content).toMatch(/^The MCP server "shop" asks: Please\.[\s\S]*\(2 of 4\) Seats: How many$/);
});

it('EN907: what does not fit is asked again, twice; what is optional can be skipped', async () => {
  const seats = form({ seats: { type: 'integer', maximum: 4 } });
  const again = await answered(seats, 'many', '9', '3');
  expect([again.answer, again.asked[1]!.content.split('\n').at(-1)]).toEqual([
    { action: 'accept', content: { seats: 3 } },
    'That does not fit: a whole number, at most 4 is expected.',
  ]);
  expect((await answered(seats, 'many', '', 'NaN')).answer).toEqual({ action: 'cancel' });
  expect((await answered(seats, 'skip')).answer).toEqual({ action: 'accept', content: {} });
});

const UNFIT = [
  ['an address to open', { mode: 'url', message: 'Open.', url: 'https://evil.example', elicitationId: 'x' }],
  ['a list', form({ all: { type: 'array' } })],
  ['too many fields', form(Object.fromEntries(Array.from({ length: 13 }, (_, n) => [`f${n}`, { type: 'string' }])))],
  ['too large a form', form({ a: { type: 'string', description: 'x'.repeat(70_000) } })],
  ['nothing', undefined],
] as const;

it.each(UNFIT)('EN907: %s is declined without a question', async (_what, params) => {
  expect(await answered(params, 'yes')).toEqual({ answer: { action: 'decline' }, asked: [] });
});

it('EN907: a question without fields is accepted or declined, and a silence cancels', async () => {
  expect((await answered(form({}), 'accept')).answer).toEqual({ action: 'accept', content: {} });
  expect((await answered(form({}), 'hm')).answer).toEqual({ action: 'decline' });
  expect((await answered(form({}))).answer).toEqual({ action: 'cancel' });
});
