// @vitest-environment happy-dom
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();

it('CL25: the list has one sentence for each conversation, those that wait first', async () => {
  await open('/');
  await screen.findByRole('link', { name: /semicolon/ });
  const rows = within(screen.getByRole('region', { name: 'Conversations' })).getAllByRole('listitem');
  const list = () => rows.map((one) => one.textContent);
  await waitFor(() => expect(list().slice(0, 2).join()).toContain('Asked you something'));
  const texts = list();
  expect(texts[0]).toContain('Waiting for your decision');
  expect(texts.join()).toContain('Stopped: no disk space left');
});

it('CL25: the list is searched and filtered', async () => {
  await open('/');
  await screen.findByRole('link', { name: /semicolon/ });
  await userEvent.click(screen.getByRole('button', { name: /^Waiting for you/ }));
  expect(screen.queryByRole('link', { name: /invoice/ })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'All' }));
  await userEvent.click(screen.getByRole('button', { name: 'Search conversations' }));
  expect(document.activeElement).toBe(screen.getByRole('searchbox'));
  await userEvent.keyboard('INVOICE');
  screen.getByRole('link', { name: /invoice/ });
  expect(screen.queryByRole('link', { name: /semicolon/ })).toBeNull();
  await userEvent.keyboard(' nothing is called this');
  screen.getByText('No title matches.');
  await userEvent.keyboard('{Escape}');
  screen.getByRole('link', { name: /semicolon/ });
});

it('CL983: what waits is answered on Home: an action is shown whole and approved or rejected, a question gets its choice', async () => {
  await open('/');
  const inbox = within(await screen.findByRole('region', { name: /^Needs you 2/ }));
  expect(document.title).toBe('2 conversations waiting for you – Tendon');
  const push = within(inbox.getByRole('article', { name: /^Push the branch\? Accept semicolon/ }));
  expect(push.getByRole('group', { name: 'All of it' }).textContent).toBe('git push --set-upstream origin fix/csv-semicolon');
  push.getByText('Medium risk');
  await userEvent.click(push.getByRole('button', { name: 'Reject' }));
  await userEvent.type(push.getByRole('textbox', { name: 'Why? (optional)' }), 'not on a Friday{Enter}');
  await waitFor(() => expect(screen.queryByRole('article', { name: /^Push the branch/ })).toBeNull());
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: /^Needs you 1/ }));
  const choice = screen.getByRole('button', { name: 'The smaller batches' });
  await waitFor(() => expect(choice.getAttribute('aria-disabled')).toBe('false'));
  await userEvent.click(choice);
  await waitFor(() => expect(screen.queryByRole('region', { name: /^Needs you/ })).toBeNull());
});

it('CL1165: a host that a sandbox wants to reach stands there too, and is answered in place', async () => {
  const { fetch } = globalThis;
  const answers: unknown[] = [];
  let isOpen = true;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const url = String(args[0] instanceof Request ? args[0].url : args[0]);
    if (url.endsWith('/network/answer')) {
      answers.push([url.split('/').at(-3), JSON.parse(String(args[1]!.body))]);
      isOpen = false;
      return Response.json({});
    }
    const answer = await fetch(...args);
    if (!isOpen || !/\/api\/conversations\?/.test(url)) return answer;
    const page = (await answer.json()) as { results: readonly { conversation_id: string }[] };
    const question = { host: 'data.example', port: 443, asked_at: new Date().toISOString() };
    const results = page.results.map((info) => (info.conversation_id === 'done' ? { ...info, network_questions: [question] } : info));
    return Response.json({ ...page, results });
  });
  onTestFinished(() => spy.mockRestore());
  await open('/');
  const card = within(await screen.findByRole('article', { name: /^The sandbox wants to reach data\.example:443/ }));
  screen.getByRole('region', { name: /^Needs you \d/ });
  screen.getByText('Wants to reach data.example');
  const once = card.getByRole('button', { name: 'Allow once' });
  await waitFor(() => expect(once.getAttribute('aria-disabled')).toBe('false'));
  await userEvent.click(once);
  await waitFor(() => expect(screen.queryByRole('article', { name: /^The sandbox wants/ })).toBeNull());
  expect(answers).toEqual([['done', { host: 'data.example', answer: 'once' }]]);
});

it('CL25: deleting can be taken back, by the key that deleted', async () => {
  await open('/');
  await screen.findByRole('link', { name: /semicolon/ });
  await userEvent.click(screen.getByRole('button', { name: /^Delete Accept semicolon/ }));
  screen.getByText(/^Deleted “Accept semicolon/);
  expect(document.activeElement?.textContent).toBe('Undo');
  await userEvent.keyboard('{Enter}');
  screen.getByRole('link', { name: /semicolon/ });
});

it('CL29: the palette runs a command by name, and the skip link leads to the composer', async () => {
  await open('/');
  await screen.findByRole('textbox', { name: 'Task' });
  await userEvent.keyboard('{Control>}k{/Control}');
  await userEvent.type(screen.getByRole('combobox', { name: 'Command' }), 'theme dark{Enter}');
  expect(document.documentElement.dataset.theme).toBe('dark');
  expect(screen.queryByRole('combobox', { name: 'Command' })).toBeNull();
  const { hash } = screen.getByRole<HTMLAnchorElement>('link', { name: 'Write a message' });
  expect(document.querySelector(hash)).toBe(screen.getByRole('textbox', { name: 'Task' }));
});

it('CL943: the palette finds a conversation by its title, and says what it does not find', async () => {
  await open('/');
  await screen.findByRole('link', { name: /semicolon/ });
  await userEvent.keyboard('{Control>}k{/Control}');
  const field = screen.getByRole('combobox', { name: 'Command' });
  await userEvent.type(field, 'nothing has this');
  screen.getByText('No match for “nothing has this”');
  await userEvent.clear(field);
  await userEvent.type(field, 'ledger rounds');
  await userEvent.click(await screen.findByRole('option', { name: /^Explain how the ledger rounds/ }));
  await waitFor(() => expect(document.title).toContain('Explain how the ledger rounds'));
});

it('CL29: a form in a popup keeps the focus where a person types, and Escape gives it back to its button', async () => {
  await open('/');
  const button = await screen.findByRole('button', { name: 'Enter an address' });
  await userEvent.click(button);
  const form = within(screen.getByRole('dialog', { name: 'Enter an address' }));
  expect(document.activeElement).toBe(form.getByLabelText('Address'));
  await userEvent.keyboard('http://127.0.0.1:11434/v1');
  await userEvent.type(form.getByLabelText('Model'), 'openai/small');
  expect(document.activeElement).toBe(form.getByLabelText('Model'));
  expect(form.getByRole('button', { name: 'Use this model' }).hasAttribute('disabled')).toBe(false);
  await userEvent.keyboard('{Escape}');
  expect(document.activeElement).toBe(button);
});

it('CL1310: a model that is given on Home is asked at once: where it does not answer, the guide stays with the words of its provider', async () => {
  await open('/');
  await userEvent.click(await screen.findByRole('button', { name: 'Enter an address' }));
  await userEvent.keyboard('http://127.0.0.1:11434/v1');
  await userEvent.type(screen.getByLabelText('Model'), 'openai/small{Enter}');
  await screen.findByText('HTTP 401, Incorrect API key provided');
  await userEvent.click(screen.getByRole('button', { name: 'Use it all the same' }));
  await waitFor(() => expect(screen.queryByText('A key from a provider')).toBeNull());
  // What was given is stored: a guide that is opened by no demo model does not come back.
  expect(screen.getByRole('contentinfo').textContent).toContain('small');
});

it('CL1310: one that answers ends the guide, also after one that did not', async () => {
  await fetch('/api/settings', { method: 'POST', body: JSON.stringify({ llm_model: 'demo' }) });
  await open('/');
  await userEvent.click(await screen.findByRole('button', { name: 'Enter an address' }));
  await userEvent.keyboard('http://127.0.0.1:11434/v1');
  await userEvent.type(screen.getByLabelText('Model'), 'openai/small{Enter}');
  await screen.findByText('HTTP 401, Incorrect API key provided');
  await userEvent.type(screen.getByLabelText('API key'), 'sk-ant-0123456789{Enter}');
  await waitFor(() => expect(screen.queryByText('A key from a provider')).toBeNull());
  await fetch('/api/settings', { method: 'POST', body: JSON.stringify({ llm_model: 'demo' }) });
});

it('CL984: a search finds titles and text, and leads to the place; filters stay beside it', async () => {
  await open('/');
  await screen.findByRole('link', { name: /semicolon/ });
  await userEvent.click(screen.getByRole('button', { name: 'Search conversations' }));
  await userEvent.keyboard('marmalade');
  const hits = within(await screen.findByRole('region', { name: 'In the text' }));
  expect(hits.getByRole('link', { name: /flaky/ }).getAttribute('href')).toBe('/conversations/kinds#event-4');
  hits.getByText('the otter likes marmalade');
  expect(screen.getByRole('button', { name: /^Waiting for you/ })).toBeDefined();
});

it('CL985: a task begins in a repository of a connected account, on a branch', async () => {
  const sent = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => sent.mockRestore());
  await open('/');
  await userEvent.click(await screen.findByRole('button', { name: 'Repository: No repository' }));
  await userEvent.click(await screen.findByRole('button', { name: 'harbor/ledger' }));
  await userEvent.type(screen.getByRole('combobox', { name: 'Branch' }), 'release');
  await userEvent.click(screen.getByRole('button', { name: 'Use this repository' }));
  expect(screen.getByRole('button', { name: 'Repository: harbor/ledger, release' })).toBeDefined();
  await userEvent.type(screen.getByLabelText('Task'), 'mend it');
  await userEvent.click(screen.getByRole('button', { name: 'Start' }));
  const bodies = () => sent.mock.calls.flatMap(([, init]) => (init?.method === 'POST' && typeof init.body === 'string' ? [init.body] : []));
  await waitFor(() =>
    expect(JSON.parse(bodies().at(-1)!)).toMatchObject({
      repository: 'harbor/ledger',
      git_provider: 'github',
      selected_branch: 'release',
    }),
  );
});

it('CL925: the rules of all conversations are listed in the settings, which home leads to, and revoked one by one', async () => {
  await open('/');
  await userEvent.click(await screen.findByRole('link', { name: 'Settings' }));
  await userEvent.click(await screen.findByRole('link', { name: 'Approvals and rules' }));
  const rules = async () => within(await screen.findByRole('list', { name: 'Rules' })).getAllByRole('listitem');
  expect((await rules()).map(({ textContent }) => textContent)).toEqual([
    'Never rungit pushRevoke',
    'Always allow/workspace/docsin acme/shopRevoke',
  ]);
  await userEvent.click(screen.getByRole('button', { name: 'Revoke: Never run git push' }));
  await waitFor(async () => expect(await rules()).toHaveLength(1));
});

it('CL931: a task begins in a copy of the folder where that is chosen', async () => {
  const sent = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => sent.mockRestore());
  await open('/');
  await userEvent.click(await screen.findByRole('button', { name: 'Folder: New folder' }));
  await userEvent.type(screen.getByLabelText(/^Folder on /), '/srv/shop');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Work in a copy of its own' }));
  await userEvent.click(screen.getByRole('button', { name: 'Use this folder' }));
  expect(screen.getByRole('button', { name: 'Folder: /srv/shop, a copy' })).toBeDefined();
  await userEvent.type(screen.getByLabelText('Task'), 'mend it');
  await userEvent.click(screen.getByRole('button', { name: 'Start' }));
  const bodies = () => sent.mock.calls.flatMap(([, init]) => (init?.method === 'POST' && typeof init.body === 'string' ? [init.body] : []));
  await waitFor(() =>
    expect(bodies().map((body) => JSON.parse(body) as unknown)).toContainEqual({
      initial_user_msg: 'mend it',
      image_urls: [],
      directory: '/srv/shop',
      git_worktree: true,
    }),
  );
});

it('CL930: MCP servers are listed in the settings with how they are let in; a login leads to its page, and ends', async () => {
  await open('/settings/mcp');
  const servers = async () => within(await screen.findByRole('list', { name: 'MCP servers' })).getAllByRole('listitem');
  expect((await servers()).map(({ textContent }) => textContent)).toEqual(['ticketsnot logged inLog in', 'searchhas an API key']);
  await userEvent.click(screen.getByRole('button', { name: 'Log in to tickets' }));
  const link = await screen.findByRole('link', { name: 'Permit it at login.tickets.example' });
  expect(link.getAttribute('href')).toBe('https://login.tickets.example/authorize?state=made-up');
  const logOut = await screen.findByRole('button', { name: 'Log out of tickets' });
  expect(screen.queryByRole('link', { name: /^Permit/ })).toBeNull();
  await userEvent.click(logOut);
  expect(await screen.findByRole('button', { name: 'Log in to tickets' })).toBeDefined();
});

it('CL926: what waits for a person is chosen in the settings, and who judges the risk, of those that the server offers', async () => {
  await open('/settings/approvals');
  const mode = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Agents ask before' });
  expect([mode.value, screen.queryByRole('combobox', { name: 'Who judges the risk' })]).toEqual(['never', null]);
  await userEvent.selectOptions(mode, 'What is risky');
  const analyzer = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Who judges the risk' });
  expect([analyzer.value, [...analyzer.options].map(({ value }) => value)]).toEqual(['rules', ['invariant', 'llm', 'model', 'rules']]);
  await userEvent.selectOptions(analyzer, 'The small model');
  await waitFor(() => expect(analyzer.value).toBe('model'));
});

it('CL920, CL921: the settings list triggers with their last delivery, which can be paused and removed, and what the user added', async () => {
  await open('/settings/triggers');
  const list = (name: string) => screen.findByRole('list', { name });
  const texts = async (name: string) =>
    within(await list(name))
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent);
  await waitFor(async () => expect((await texts('Triggers'))[1]).toBe('failed buildswebhook, never firedPauseRemove'));
  await waitFor(async () =>
    expect((await texts('Triggers'))[0]).toMatch(/^nightly updateschedule 0 3 \* \* \*, done .+ConversationPauseRemove$/),
  );
  await userEvent.click(screen.getByRole('button', { name: 'Pause: nightly update' }));
  expect(await screen.findByRole('button', { name: 'Resume: nightly update' })).toBeDefined();
  await userEvent.click(screen.getByRole('button', { name: 'Remove: failed builds' }));
  await userEvent.click(screen.getByRole('button', { name: 'Remove for good: failed builds' }));
  await waitFor(async () => expect(await texts('Triggers')).toHaveLength(1));
  cleanup();
  await open('/settings/agents');
  expect(await texts('Tools')).toEqual(['look_upLooks up a customer.']);
  expect(await texts('Hooks')).toEqual(['guardbefore action of run: ./guard.sh (blocks when it fails)']);
  expect(await texts('Plugins')).toEqual(['shopdisabled; skills, 1 hook']);
  expect(screen.getByText(/draft\.ts does not count/)).toBeDefined();
});

it('CL927: a secret is stored with the hosts that it may go to, listed without its value, and deleted', async () => {
  await open('/settings/secrets');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name of the variable' }), 'API_KEY');
  const value = screen.getByLabelText<HTMLInputElement>('Value');
  await userEvent.type(value, 'hunter2-hunter2');
  await userEvent.type(screen.getByRole('textbox', { name: /^Hosts/ }), 'api.example.com, b.example');
  await userEvent.click(screen.getByRole('button', { name: 'Store the secret' }));
  const row = within(await screen.findByRole('list', { name: 'Secrets' })).getByRole('listitem');
  expect([row.textContent, value.value]).toEqual(['API_KEYfor api.example.com, b.exampleChange hostsDelete', '']);
  await userEvent.click(screen.getByRole('button', { name: 'Change the hosts of API_KEY' }));
  const hosts = screen.getByRole('textbox', { name: /^Hosts of API_KEY/ });
  await userEvent.clear(hosts);
  await userEvent.type(hosts, 'c.example{Enter}');
  await within(row).findByText('for c.example');
  await userEvent.click(screen.getByRole('button', { name: 'Delete the secret API_KEY' }));
  await waitFor(() => expect(screen.queryByRole('list', { name: 'Secrets' })).toBeNull());
});

it('CL1221: an address that is no page says so, and so does that of no conversation, with the bar of every page', async () => {
  await open('/conversations/0000');
  await screen.findByText('This conversation was deleted or belongs to another server.');
  cleanup();
  await open('/nonsense');
  await screen.findByText('The address may be misspelled.');
  expect(within(screen.getByRole('banner')).getByRole('link', { name: 'Settings' })).toBeDefined();
  await userEvent.click(await screen.findByRole('link', { name: 'Show all conversations' }));
  expect(await screen.findByRole('heading', { name: 'What do you want done?' })).toBeDefined();
});

it('CL1303: a conversation is pinned and unpinned where the server deletes what nobody uses, and the settings say when', async () => {
  const { fetch } = globalThis;
  const sent: unknown[] = [];
  let isPinned = false;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const url = String(args[0] instanceof Request ? args[0].url : args[0]);
    if (args[1]?.method === 'PATCH') {
      sent.push(JSON.parse(String(args[1].body)));
      isPinned = !isPinned;
      return Response.json(true);
    }
    const answer = await fetch(...args);
    if (url.endsWith('/server_info')) return Response.json({ ...((await answer.json()) as object), retention_days: 90 });
    if (!/\/api\/conversations\?limit/.test(url)) return answer;
    const page = (await answer.json()) as { results: { title: string }[] };
    return Response.json({
      ...page,
      results: page.results.map((each) => ({ ...each, is_pinned: isPinned && each.title.includes('invoice') })),
    });
  });
  onTestFinished(() => spy.mockRestore());
  await open('/');
  const pin = await screen.findByRole('button', { name: /^Pin .*invoice/ });
  expect(pin.getAttribute('aria-pressed')).toBe('false');
  await userEvent.click(pin);
  await waitFor(() => expect(screen.getByRole('button', { name: /^Pin .*invoice/ }).getAttribute('aria-pressed')).toBe('true'));
  await userEvent.click(screen.getByRole('button', { name: /^Pin .*invoice/ }));
  await waitFor(() => expect(screen.getByRole('button', { name: /^Pin .*invoice/ }).getAttribute('aria-pressed')).toBe('false'));
  expect(sent).toEqual([{ is_pinned: true }, { is_pinned: false }]);
  cleanup();
  await open('/settings/limits');
  await screen.findByText(/nothing happened for 90 days is deleted/);
});

it('CL1303: where conversations stay there is no such button', async () => {
  await open('/');
  await screen.findByRole('link', { name: /semicolon/ });
  expect(screen.queryByRole('button', { name: /^Pin/ })).toBeNull();
  cleanup();
  await open('/settings/limits');
  await screen.findByText('Conversations stay until somebody deletes them.');
});
