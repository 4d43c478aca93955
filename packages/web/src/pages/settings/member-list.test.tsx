// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();

it('CL1300: members are shown with what they may do, given another role and disabled; nobody disables themselves', async () => {
  await open('/settings');
  await userEvent.click(await screen.findByRole('link', { name: 'Members' }));
  const members = within(await screen.findByRole('list', { name: 'Members' }));
  expect(members.queryByRole('button', { name: 'Disable Ann' })).toBeNull();
  await userEvent.selectOptions(members.getByRole('combobox', { name: 'What Ben may do in default' }), 'viewer');
  await waitFor(() => expect(members.getByRole<HTMLSelectElement>('combobox', { name: /Ben/ }).value).toBe('viewer'));
  await userEvent.click(members.getByRole('button', { name: 'Disable Ben' }));
  await members.findByText(/ben@example.org, disabled/);
  await userEvent.click(await members.findByRole('button', { name: 'Enable Ben' }));
  await members.findByRole('button', { name: 'Disable Ben' });
});

it('CL1300: who is signed in stands in the bar, where somebody has signed in at an identity provider', async () => {
  document.cookie = 'tendon_user=1';
  await open('/');
  expect(await screen.findByText('Ann')).toBeTruthy();
});

it('CL1304: who is signed in exports what the server has of them', async () => {
  document.cookie = 'tendon_user=1';
  const { fetch } = globalThis;
  const asked: string[] = [];
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const url = String(args[0] instanceof Request ? args[0].url : args[0]);
    if (!url.endsWith('/export')) return fetch(...args);
    asked.push(new URL(url, location.href).pathname);
    return new Response('a zip');
  });
  onTestFinished(() => spy.mockRestore());
  await open('/settings/keys');
  await userEvent.click(await screen.findByRole('button', { name: 'Export my data' }));
  await waitFor(() => expect(asked).toEqual([expect.stringMatching(/^\/api\/users\/[^/]+\/export$/)]));
});
