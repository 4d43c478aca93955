// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();
/** Saves by this address are not answered until `release`. */
function holdSaves(path: string) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    if (String(args[0]).endsWith(path) && ['POST', 'PUT'].includes(args[1]?.method ?? '')) await promise;
    return fetch(...args);
  });
  onTestFinished(() => {
    release();
    spy.mockRestore();
  });
  return release;
}
const stored = async () => (await (await fetch(`${location.origin}/api/settings`)).json()) as object;
const isBusy = (button: HTMLElement) => button.getAttribute('aria-busy') === 'true';
const section = async (name: string) => within(await screen.findByRole('region', { name }));

it('CL935: a model is tested in the provider’s words, given a key, and works', async () => {
  await open('/settings');
  const model = await section('Model');
  const test = await model.findByRole('button', { name: 'Test the saved model' });
  await userEvent.click(test);
  await model.findByText('HTTP 401, Incorrect API key provided');

  await userEvent.clear(model.getByRole('combobox', { name: /^Name/ }));
  await userEvent.type(model.getByLabelText('Key'), 'sk-ant-0123456789');
  model.getByText(/^Will use anthropic\//);
  await userEvent.click(model.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(model.getByLabelText('Key').getAttribute('placeholder')).toContain('A key is set'));
  expect(model.getByLabelText<HTMLInputElement>('Key').value).toBe('');
  await userEvent.click(model.getByRole('button', { name: 'Test the saved model' }));
  await model.findByText(/^anthropic\/.* works: tools, several calls at once, a window of 200,000 tokens/);

  // Another key for the same model is not left in the page either.
  await userEvent.type(model.getByLabelText('Key'), 'sk-ant-9876543210');
  await userEvent.click(model.getByRole('button', { name: 'Save' }));
  await model.findByText('Saved');
  await waitFor(() => expect(model.getByLabelText<HTMLInputElement>('Key').value).toBe(''));
});

it('CL935: nothing that is no address, no number and no key can be saved', async () => {
  await open('/settings/models');
  const model = await section('Model');
  await userEvent.type(await model.findByLabelText(/^Address/), 'localhost');
  expect(model.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
  await userEvent.click(screen.getByRole('link', { name: 'Budget and limits' }));
  const limits = await section('Limits');
  await userEvent.type(await limits.findByLabelText(/^US dollars/), 'ten');
  expect(limits.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
});

it('CL1153: effort, the model that stands in and the small one are stored, and taken back', async () => {
  await open('/settings/models');
  const others = await section('Effort, stand-in and small model');
  await userEvent.selectOptions(await others.findByLabelText('How much the model thinks'), 'high');
  await userEvent.type(others.getByRole('combobox', { name: /^Stands in/ }), 'openai/gpt-4o-mini');
  await userEvent.click(others.getByRole('button', { name: 'Save' }));
  const saved = { llm_effort: 'high', llm_fallback_model: 'openai/gpt-4o-mini', llm_small_model: null };
  await others.findByText('Saved');
  expect(await stored()).toMatchObject(saved);
  await userEvent.selectOptions(others.getByLabelText('How much the model thinks'), 'Nothing chosen here');
  await userEvent.click(others.getByRole('button', { name: 'Save' }));
  await others.findByText('Saved');
  expect(await stored()).toMatchObject({ llm_effort: null });
});

it('CL1153: one of another provider is given a key and an address of its own, and tried', async () => {
  await open('/settings/models');
  const others = await section('Effort, stand-in and small model');
  const small = await others.findByRole<HTMLInputElement>('combobox', { name: /^Small/ });
  await userEvent.clear(small);
  expect(others.queryByLabelText('Key of the small model')).toBeNull();
  await userEvent.type(small, 'qwen3-coder');
  const address = others.getByLabelText<HTMLInputElement>(/^Address of the small model/);
  const key = () => others.getByLabelText<HTMLInputElement>('Key of the small model');
  await userEvent.type(address, 'localhost');
  expect(others.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
  await userEvent.clear(address);
  await userEvent.type(address, 'http://127.0.0.1:9/v1');
  await userEvent.type(key(), 'key-of-the-small-one');
  await userEvent.click(others.getByRole('button', { name: 'Save' }));
  await others.findByText('Saved');
  await waitFor(() => expect(key().placeholder).toContain('A key is set'));
  expect(key().value).toBe('');
  expect(await stored()).toMatchObject({ llm_small_base_url: 'http://127.0.0.1:9/v1', llm_small_api_key_set: true });
  expect(JSON.stringify(await stored())).not.toContain('key-of-the-small-one');
  await userEvent.clear(small);
  await userEvent.click(others.getByRole('button', { name: 'Save' }));
  await waitFor(async () => expect(await stored()).toMatchObject({ llm_small_model: null }));
});

it('CL1210: what is written while a save runs stays, and is saved by the next one', async () => {
  await open('/settings/models');
  const others = await section('Effort, stand-in and small model');
  const effort = await others.findByLabelText<HTMLSelectElement>('How much the model thinks');
  const small = others.getByRole<HTMLInputElement>('combobox', { name: /^Small/ });
  const save = others.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  const release = holdSaves('/api/settings');
  await userEvent.selectOptions(effort, 'high');
  await userEvent.click(save);
  await userEvent.selectOptions(effort, 'Nothing chosen here');
  await userEvent.type(small, 'openai/small');
  expect(isBusy(save)).toBe(true);
  release();
  await waitFor(() => expect(isBusy(save)).toBe(false));
  expect([effort.value, small.value, others.queryByText('Saved')]).toEqual(['', 'openai/small', null]);
  await userEvent.click(save);
  await others.findByText('Saved');
  expect(await stored()).toMatchObject({ llm_effort: null, llm_small_model: 'openai/small' });
});

it('CL942: a button keeps the focus while what it does is under way, and does it once', async () => {
  await open('/settings/models');
  const model = await section('Model');
  const save = await model.findByRole('button', { name: 'Save' });
  const release = holdSaves('/api/settings');
  await userEvent.type(model.getByRole('combobox', { name: /^Name/ }), '-2');
  save.focus();
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(isBusy(save)).toBe(true));
  await userEvent.keyboard('{Enter}');
  expect(document.activeElement).toBe(save);
  release();
  await model.findByText('Saved');
  expect(document.activeElement).toBe(save);
});

it('CL1210: what is written stays when somebody else saves, and when the server does not answer', async () => {
  await open('/settings/models');
  const others = await section('Effort, stand-in and small model');
  const small = await others.findByRole<HTMLInputElement>('combobox', { name: /^Small/ });
  await userEvent.clear(small);
  await userEvent.type(small, 'openai/mine');
  const { fetch } = globalThis;
  await fetch(`${location.origin}/api/settings`, {
    method: 'POST',
    body: JSON.stringify({ llm_effort: 'low', llm_small_model: 'theirs' }),
  });
  let isSaved = false;
  const down = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    if (isSaved) throw new TypeError('no network');
    isSaved = args[1]?.method === 'POST';
    return fetch(...args);
  });
  onTestFinished(() => down.mockRestore());
  // Each save reads the settings anew.
  const model = await section('Model');
  await userEvent.click(model.getByRole('button', { name: 'Save' }));
  await others.findByRole('alert');
  expect(small.value).toBe('openai/mine');
  down.mockRestore();
  const save = model.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  await waitFor(() => expect(save.disabled).toBe(false));
  await userEvent.click(save);
  await others.findByDisplayValue('low');
  expect(small.value).toBe('openai/mine');
  expect(small.isConnected).toBe(true);
});

it('CL936: limits are stored, and shown as they are stored', async () => {
  await open('/settings/limits');
  const limits = await section('Limits');
  await userEvent.type(await limits.findByLabelText(/^US dollars/), '2.50');
  await userEvent.type(limits.getByLabelText(/^Minutes until/), '1.5');
  await userEvent.click(limits.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(limits.getByLabelText<HTMLInputElement>(/^US dollars/).value).toBe('2.5'));
  expect(limits.getByLabelText<HTMLInputElement>(/^Minutes until/).value).toBe('1.5');
});

it('CL936: the theme of this browser', async () => {
  await open('/settings/appearance');
  const appearance = await section('Appearance');
  await userEvent.click(appearance.getByRole('radio', { name: 'Dark' }));
  expect(document.documentElement.dataset.theme).toBe('dark');
  await userEvent.click(appearance.getByRole('radio', { name: 'Follow the system' }));
});

it('CL986: each page of the settings is in the list beside it, and says for whom it holds', async () => {
  await open('/settings');
  const list = within(await screen.findByRole('navigation', { name: 'Settings' }));
  expect(list.getByRole('link', { current: 'page' }).textContent).toBe('Models');
  expect(await section('Models in use').then((models) => models.findAllByRole('listitem'))).toHaveLength(2);
  await list.findByRole('link', { name: 'Members' });
  for (const { textContent: title } of list.getAllByRole('link')) {
    await userEvent.click(list.getByRole('link', { name: title! }));
    await screen.findByRole('heading', { level: 1, name: title! });
    await screen.findByText(/^(For|In|Of|All of) (all|this|each|your)/);
    await waitFor(() => expect(screen.getAllByRole('heading', { level: 2 }).length).toBeGreaterThan(0));
  }
});

it('CL986: what a page of the settings is called stands there once', async () => {
  await open('/settings/secrets');
  const heading = await screen.findByRole('heading', { level: 2, name: 'Secrets' });
  expect(heading.className).toBe('sr-only');
  expect(screen.getByRole('heading', { level: 1, name: 'Secrets' }).className).not.toBe('sr-only');
});

it('CL986: where commands may connect to is chosen, with the hosts of the list', async () => {
  await open('/settings/network');
  const reach = await section('Reach of the sandboxes');
  await userEvent.selectOptions(await reach.findByRole('combobox'), 'Nothing');
  await userEvent.type(reach.getByLabelText(/^Allowed hosts/), 'a.example, *.b.example');
  await userEvent.click(reach.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(reach.getByRole<HTMLSelectElement>('combobox').value).toBe('none'));
  expect(reach.getByLabelText<HTMLInputElement>(/^Allowed hosts/).value).toBe('a.example, *.b.example');
});

it('CL986 CL1154: MCP servers are added by address and as programs, tested, and removed', async () => {
  await open('/settings/mcp');
  const servers = await section('Servers of the settings');
  await userEvent.type(await servers.findByLabelText('Address'), 'https://tools.example/mcp');
  await userEvent.click(servers.getByRole('button', { name: 'Add the address' }));
  await servers.findByText('https://tools.example/mcp');
  await userEvent.type(servers.getByLabelText('Name of a program'), 'files');
  await userEvent.type(servers.getByLabelText(/^Its command/), 'npx -y files /srv');
  await userEvent.click(servers.getByRole('button', { name: 'Add the program' }));
  await servers.findByText('program npx -y files /srv');
  await userEvent.click(servers.getByRole('button', { name: 'Test https://tools.example/mcp' }));
  await servers.findByText('1 tool: find_page');
  await userEvent.click(servers.getByRole('button', { name: 'Test files' }));
  await servers.findByText('the program ended with exit code 127: npx: not found');
  await userEvent.click(servers.getByRole('button', { name: 'Remove https://tools.example/mcp' }));
  await waitFor(() => expect(servers.getAllByRole('listitem')).toHaveLength(1));
});

it('CL1154: the test of a program says what it does, and is cancelled by its button and by leaving the page', async () => {
  await open('/settings/mcp');
  const program = { name: 'files', command: 'npx', args: ['files'], env: {} };
  const mcp_config = { sse_servers: [], shttp_servers: [], stdio_servers: [program] };
  await fetch(`${location.origin}/api/settings`, { method: 'POST', body: JSON.stringify({ mcp_config }) });
  const servers = await section('Servers of the settings');
  const signals: AbortSignal[] = [];
  const { fetch: send } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((...args) => {
    if (!String(args[0]).endsWith('/api/mcp/test')) return send(...args);
    signals.push(args[1]!.signal!);
    return new Promise(() => {});
  });
  onTestFinished(() => spy.mockRestore());
  await userEvent.click(await servers.findByRole('button', { name: 'Test files' }));
  await servers.findByText('Starting it in a sandbox of its own', { exact: false });
  await userEvent.click(servers.getByRole('button', { name: 'Cancel the test of files' }));
  await userEvent.click(await servers.findByRole('button', { name: 'Test files' }));
  await userEvent.click(screen.getByRole('link', { name: 'Budget and limits' }));
  await section('Limits');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

it('SV1004: an MCP server that another page added meanwhile stays when one is added here', async () => {
  await open('/settings/mcp');
  const servers = await section('Servers of the settings');
  await userEvent.type(await servers.findByLabelText('Name of a program'), 'here');
  const there = { sse_servers: [], shttp_servers: [{ url: 'https://other.example/mcp' }], stdio_servers: [] };
  await fetch(`${location.origin}/api/settings`, { method: 'POST', body: JSON.stringify({ mcp_config: there }) });
  await userEvent.type(servers.getByLabelText(/^Its command/), 'npx here');
  await userEvent.click(servers.getByRole('button', { name: 'Add the program' }));
  await servers.findByText('program npx here');
  expect(servers.getAllByRole('listitem')).toHaveLength(2);
  servers.getByText('https://other.example/mcp');
  await userEvent.click(servers.getByRole('button', { name: 'Test https://other.example/mcp' }));
  await servers.findByText('it answered with the status 401');
});

it('SV1004: what is written into notes stays while an agent notes something, and does not replace it', async () => {
  await open('/settings/agents');
  const notes = await section('Notes');
  await userEvent.type(await notes.findByRole('textbox'), 'Mine.');
  const body = JSON.stringify({ name: 'user', text: '- Noted by an agent.' });
  await fetch(`${location.origin}/api/notes`, { method: 'PUT', body });
  await userEvent.click(notes.getByRole('button', { name: 'Save these notes' }));
  await notes.findByRole('alert');
  expect((notes.getByRole('textbox') as HTMLTextAreaElement).value).toContain('Mine.');
  await userEvent.click(await notes.findByRole('button', { name: /^Drop this/ }));
  expect((notes.getByRole('textbox') as HTMLTextAreaElement).value).toBe('- Noted by an agent.');
  await fetch(`${location.origin}/api/notes`, { method: 'PUT', body: JSON.stringify({ name: 'user', text: '- Prefers short answers.' }) });
});

it('CL1210: what is written into notes while they are saved stays, on top of what was saved', async () => {
  await open('/settings/agents');
  const notes = await section('Notes');
  const text = await notes.findByRole<HTMLTextAreaElement>('textbox');
  const release = holdSaves('/api/notes');
  await userEvent.type(text, 'One.');
  await userEvent.click(notes.getByRole('button', { name: 'Save these notes' }));
  await userEvent.type(text, ' Two.');
  release();
  const save = notes.getByRole<HTMLButtonElement>('button', { name: 'Save these notes' });
  await waitFor(() => expect(isBusy(save)).toBe(false));
  expect(text.value).toMatch(/One\. Two\.$/);
  await userEvent.click(save);
  await waitFor(() => expect(save.disabled).toBe(true));
  await notes.findByText('Saved');
  expect([text.value, notes.queryByRole('alert')]).toEqual([expect.stringMatching(/One\. Two\.$/), null]);
  await fetch(`${location.origin}/api/notes`, { method: 'PUT', body: JSON.stringify({ name: 'user', text: '- Prefers short answers.' }) });
});

it('CL987: a key is made, shown once and revoked; a sandbox is stopped; notes are corrected', async () => {
  await open('/settings/keys');
  const keys = await section('API keys');
  await userEvent.type(await keys.findByLabelText('Name'), 'phone');
  await userEvent.click(keys.getByRole('button', { name: 'Create key' }));
  await keys.findByText('tk-made-up');
  await userEvent.click(await keys.findByRole('button', { name: 'Revoke the key nightly run' }));
  await waitFor(() => expect(keys.getAllByRole('listitem').map((row) => row.textContent)).toEqual([expect.stringMatching(/^phone/)]));

  await userEvent.click(screen.getByRole('link', { name: 'Sandboxes' }));
  const sandboxes = await section('Sandboxes');
  await sandboxes.findByText('running for 12 min 34 s, 212.0 MB of memory, 48.0 MB on disk');
  await userEvent.click(sandboxes.getByRole('button', { name: /^Stop the sandbox of Accept/ }));
  await sandboxes.findByText(/^No sandbox runs/);

  await userEvent.click(screen.getByRole('link', { name: 'Agents, skills and notes' }));
  const notes = await section('Notes');
  await userEvent.clear(await notes.findByRole('textbox'));
  await userEvent.click(notes.getByRole('button', { name: 'Remove these notes' }));
  await notes.findByText('Nothing was noted yet.');
});

it('CL988: notifications are asked for by a button, and shown for what comes while the page is hidden', async () => {
  const shown: string[] = [];
  class Shown {
    static readonly permission = 'granted';
    static readonly requestPermission = async () => 'granted';
    readonly addEventListener = () => undefined;
    constructor(title: string, { body }: { readonly body: string }) {
      shown.push(`${title}: ${body}`);
    }
  }
  vi.stubGlobal('Notification', Shown);
  vi.stubGlobal('isSecureContext', true);
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    hidden.mockRestore();
  });
  await open('/settings/notifications');
  await userEvent.click(await screen.findByRole('button', { name: 'Turn notifications on' }));
  await screen.findByText(/^Notifications are on\./);
  const waits =
    'Accept semicolon-separated CSV files: Waiting for your decision\nPush the branch?\ngit push --set-upstream origin fix/csv-semicolon';
  await waitFor(() => expect(shown).toContain(waits));
  await userEvent.click(screen.getByRole('button', { name: 'Turn notifications off' }));
  await screen.findByText('Notifications are off.');
});
