import { expect, it } from 'vitest';
import { messageWords } from './question-words.ts';

it('CL1313: a question of one line is the heading, whole, and its choices are not listed beside their buttons', () => {
  const long = `Shall I ${'really '.repeat(30)}do it?`;
  expect(messageWords({ content: `${long}\n\n1. Yes\n2. No`, choices: ['Yes', 'No'] })).toMatchObject({ question: long, whole: '' });
  expect(messageWords({ content: 'Which of **the two**?', choices: ['a', 'b'] })).toMatchObject({
    question: 'Which of the two?',
    whole: '',
  });
});

it('CL1313: a longer one stands whole below a heading that does not repeat it', () => {
  const text = 'It takes 2.9 s.\n\nAn index helps. Shall I add it?';
  expect(messageWords({ content: `${text}\n\n1. Yes\n2. No`, choices: ['Yes', 'No'] })).toEqual({
    name: 'Shall I add it?',
    question: 'Asked you something',
    whole: text,
    consequence: '',
  });
  // A list that is not the choices is a part of it.
  expect(messageWords({ content: 'Which?\n\n1. a\n2. c', choices: ['a', 'b'] }).whole).toContain('2. c');
});
