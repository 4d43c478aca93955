// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();
const LATER = { timeout: 10_000 };
const section = async (name: string) => within(await screen.findByRole('region', { name }, LATER));

it('CL935: a model is tested in the provider’s words, given a key, and works', async () => {
  await open('/settings');
  const model = await section('Model');
  const test = await model.findByRole('button', { name: 'Test the saved model' }, LATER);
  await userEvent.click(test);
  await model.findByText('HTTP 401, Incorrect API key provided', undefined, LATER);

  await userEvent.clear(model.getByRole('combobox', { name: /^Name/ }));
  await userEvent.type(model.getByLabelText('Key'), 'sk-ant-0123456789');
  model.getByText(/^Will use anthropic\//);
  await userEvent.click(model.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(model.getByLabelText('Key').getAttribute('placeholder')).toContain('A key is set'), LATER);
  expect(model.getByLabelText<HTMLInputElement>('Key').value).toBe('');
  await userEvent.click(model.getByRole('button', { name: 'Test the saved model' }));
  await model.findByText(/^anthropic\/.* works: tools, several calls at once, a window of 200,000 tokens/, undefined, LATER);

  // Another key for the same model is not left in the page either.
  await userEvent.type(model.getByLabelText('Key'), 'sk-ant-9876543210');
  await userEvent.click(model.getByRole('button', { name: 'Save' }));
  await model.findByText('Saved', undefined, LATER);
  await waitFor(() => expect(model.getByLabelText<HTMLInputElement>('Key').value).toBe(''), LATER);
});

it('CL935: nothing that is no address, no number and no key can be saved', async () => {
  await open('/settings');
  const model = await section('Model');
  await userEvent.type(await model.findByLabelText(/^Address/, undefined, LATER), 'localhost');
  expect(model.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
  const limits = await section('Limits');
  await userEvent.type(await limits.findByLabelText(/^US dollars/, undefined, LATER), 'ten');
  expect(limits.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
});

it('CL936: limits are stored, and shown as they are stored', async () => {
  await open('/settings');
  const limits = await section('Limits');
  await userEvent.type(await limits.findByLabelText(/^US dollars/, undefined, LATER), '2.50');
  await userEvent.type(limits.getByLabelText(/^Minutes until/), '1.5');
  await userEvent.click(limits.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(limits.getByLabelText<HTMLInputElement>(/^US dollars/).value).toBe('2.5'), LATER);
  expect(limits.getByLabelText<HTMLInputElement>(/^Minutes until/).value).toBe('1.5');
});

it('CL936: the theme of this browser', async () => {
  await open('/settings');
  const appearance = await section('Appearance');
  await userEvent.click(appearance.getByRole('radio', { name: 'Dark' }));
  expect(document.documentElement.dataset.theme).toBe('dark');
  await userEvent.click(appearance.getByRole('radio', { name: 'As the system' }));
});
