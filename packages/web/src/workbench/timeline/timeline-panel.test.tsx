// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();

async function timeline(id: string) {
  await open(`/conversations/${id}`);
  await userEvent.click(await screen.findByRole('tab', { name: 'Timeline' }));
  return within(await screen.findByRole('tabpanel', { name: 'Timeline' }));
}

it('CL990: the messages of the person are moments: one goes back to with its files, and on from before it', async () => {
  const sent = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => sent.mockRestore());
  const panel = await timeline('twice');
  const rows = async () => within(await panel.findByRole('list', { name: 'Your messages' })).getAllByRole('listitem');
  expect((await rows()).map((row) => row.textContent)).toEqual([
    expect.stringContaining('Remove it'),
    expect.stringContaining('Read the samples'),
  ]);
  await userEvent.click(panel.getAllByRole('button', { name: /^Back to here: / })[0]!);
  await panel.findByText('Back to before this message was sent.');
  await panel.findByText('packages/import/src/read-csv.ts');
  expect(panel.getByRole('button', { name: 'Fork from here' })).toBeDefined();
  const message = /\d+$/.exec(panel.getByRole('link', { name: /^Remove it/ }).getAttribute('href')!)![0];
  await userEvent.click(panel.getByRole('button', { name: 'Files and conversation' }));
  const asked = () => sent.mock.calls.map(([url, init]) => `${init?.method} ${String(url).replace(/^.*\/api/, '')} ${String(init?.body)}`);
  await waitFor(() => expect(asked()).toContain(`POST /conversations/twice/checkpoints/3/restore {"what":"both","before":${message}}`));
});

it('CL991: attempts at the same work are compared by state, cost, changed files and last words', async () => {
  const panel = await timeline('kinds');
  await userEvent.click(await panel.findByRole('button', { name: /^Compare with Explain how/ }));
  const table = within(await panel.findByRole('table', { name: 'Two attempts' }));
  await waitFor(() => expect(table.getAllByText('1 file: src/read-csv.ts')).toHaveLength(2));
  expect(table.getByRole('row', { name: /^Cost/ }).textContent).toBe('Cost$0.77$0.05');
  await table.findByText(/^The test races with the clock/);
});

it('CL992: the other conversations are a menu in the bar, or stand beside it on a wide screen', async () => {
  await open('/conversations/done');
  await userEvent.click(await screen.findByRole('button', { name: 'Conversations' }));
  const nav = within(await screen.findByRole('navigation', { name: 'Conversations' }));
  const waiting = within(await nav.findByRole('region', { name: 'Waiting for you' }));
  expect(waiting.getAllByRole('link').map((link) => link.textContent)).toEqual([
    expect.stringContaining('Accept semicolon'),
    expect.stringContaining('nightly export'),
  ]);
  expect(nav.getByRole('link', { current: 'page' }).textContent).toContain('rounds currencies');
  await userEvent.click(waiting.getAllByRole('link')[0]!);
  await screen.findByRole('region', { name: 'Decision' });
});
