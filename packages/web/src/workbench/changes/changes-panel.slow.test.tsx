// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';
import { seenKey } from './file-list.tsx';

const open = appOnFixture();

async function panel(id = 'ledger') {
  await open(`/conversations/${id}`);
  await userEvent.click(await screen.findByRole('tab', { name: /^Changes/ }));
  const found = within(await screen.findByRole('tabpanel'));
  return { ...found, region: (name: string) => screen.findByRole('region', { name }) };
}

it('CL950: files that a shell changed are listed in numeric order, with their lines, and seen marks lead to the next', async () => {
  const { region } = await panel();
  const first = within(await region('packages/import/src/read-csv.ts'));
  await first.findByText(/opts\.delimiter/);
  const list = within(screen.getByRole('navigation', { name: 'Changed files' }));
  expect(list.getAllByRole('button').map((button) => button.textContent)).toEqual([
    'read-csv.ts+3−2',
    'sniff.ts+3',
    'sample_2.csv+2−2',
    'sample_10.csv−2',
  ]);
  await userEvent.click(first.getByRole('checkbox', { name: 'Seen' }));
  await region('packages/import/src/sniff.ts');
  expect(list.getAllByRole('button')[0]!.textContent).toContain('seen');
  await userEvent.click(list.getByRole('button', { name: /read-csv/ }));
  await region('packages/import/src/read-csv.ts');
  await userEvent.click(screen.getByRole('button', { name: 'Side by side' }));
  await waitFor(() => expect(screen.getByRole('table').dataset.side).toBe('true'));
});

it('CL1161: a file whose content is another is unseen, also with as many lines as before', () => {
  const file = { path: 'a.ts', status: 'M', added: 1, removed: 1 } as const;
  expect(seenKey({ ...file, content: 'c0ffee' })).not.toBe(seenKey({ ...file, content: 'decade' }));
  expect(seenKey({ ...file, added: 2, content: 'c0ffee' })).toBe(seenKey({ ...file, content: 'c0ffee' }));
  expect(seenKey({ ...file, added: 2 })).not.toBe(seenKey(file));
});

it('CL951: a comment on a line goes to the agent, with its file, line and text', async () => {
  const { region } = await panel();
  const file = within(await region('packages/import/src/read-csv.ts'));
  await userEvent.click(await file.findByRole('button', { name: 'Comment on line 4' }));
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Comment');
  await userEvent.keyboard('Keep the comma.{Control>}{Enter}{/Control}');
  await file.findByText('Keep the comma.');
  await userEvent.click(file.getByRole('button', { name: 'Comment on removed line 4' }));
  await userEvent.keyboard('Why?');
  await userEvent.click(file.getByRole('button', { name: 'Add comment' }));
  await screen.findByText('2 comments on the changes with this message');
  await userEvent.click(screen.getByRole('button', { name: 'Send to the agent' }));
  const message = await screen.findByRole('article', { name: /^Your message, .*Comments on the changes/ });
  expect(message.textContent).toContain('packages/import/src/read-csv.ts, line 4:');
  expect(message.textContent).toContain('Keep the comma.');
  expect(screen.queryAllByText(/^2 comments/)).toEqual([]);
});

it('CL952: a file is reverted and comes back by Undo', async () => {
  const { region } = await panel('running');
  const file = within(await region('packages/import/src/read-csv.ts'));
  await file.findByRole('button', { name: 'Revert hunk 2 of 2' });
  await userEvent.click(file.getByRole('button', { name: 'Revert file' }));
  await screen.findByText(/read-csv\.ts was reverted/);
  await region('packages/import/src/sniff.ts');
  await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
  await within(screen.getByRole('navigation', { name: 'Changed files' })).findByRole('button', { name: /read-csv/ });
  expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
});

it('CL953: what was changed is committed and becomes a pull request, whose repository is named before', async () => {
  await panel('running');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Commit message' }), 'fix(import): accept semicolons');
  await userEvent.click(screen.getByRole('button', { name: 'Commit 4 files' }));
  await screen.findByText('Everything is committed.');
  await userEvent.click(screen.getByRole('button', { name: 'Open pull request' }));
  const form = within(screen.getByRole('form', { name: 'Pull request' }));
  form.getByText(/to harbor\/ledger on GitHub/);
  await userEvent.type(form.getByRole('textbox', { name: 'Title' }), 'Accept semicolons');
  await userEvent.click(form.getByRole('button', { name: 'Push and open' }));
  expect((await screen.findByRole('link', { name: /pull\/11/ })).getAttribute('href')).toBe('https://github.example/harbor/ledger/pull/11');
});

it('CL950: where the sandbox is suspended nothing is started, and the log’s own edits are shown', async () => {
  await panel('done');
  await screen.findByText(/The sandbox is suspended/);
  expect(screen.getByRole('button', { name: 'Compare the files' }).hasAttribute('disabled')).toBe(false);
  expect(screen.queryByRole('combobox', { name: 'Compare with' })).toBeNull();
});

it('SV1002: what is reverted is the hunk that is shown, of its own base, while another base is looked up', async () => {
  const { fetch } = globalThis;
  const reverted: unknown[] = [];
  const held = Promise.withResolvers<void>();
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const url = String(args[0]);
    if (url.includes('/changes/file') && url.includes('against=turn')) await held.promise;
    if (url.endsWith('/changes/revert')) reverted.push(JSON.parse(String(args[1]?.body)));
    return fetch(...args);
  });
  onTestFinished(() => spy.mockRestore());
  const { region } = await panel();
  const file = within(await region('packages/import/src/read-csv.ts'));
  await file.findByRole('button', { name: 'Revert hunk 2 of 2' });
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Compare with' }), 'turn');
  await userEvent.click(file.getByRole('button', { name: 'Revert hunk 2 of 2' }));
  await waitFor(() => expect(reverted).toMatchObject([{ against: 'start', version: 'v1' }]));
  held.resolve();
});
