// @vitest-environment happy-dom
import { act, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';
import { appOnFixture } from '../../app.test-support.tsx';

const open = appOnFixture();

it('CL26: the action is shown whole; rejecting takes a reason, which is sent to the agent', async () => {
  await open('/conversations/ledger');
  const decision = within(await screen.findByRole('region', { name: 'Decision' }));
  decision.getByRole('heading', { name: /^Push the branch\?/ });
  decision.getByText('git push --set-upstream origin fix/csv-semicolon');
  await userEvent.click(decision.getByRole('button', { name: /^Reject/ }));
  expect(document.activeElement).toBe(decision.getByRole('textbox', { name: 'Reason' }));
  await userEvent.keyboard('not today{Enter}');
  await screen.findByRole('article', { name: /^You rejected this.*Their reason: not today/ });
  expect(screen.queryByRole('region', { name: 'Decision' })).toBeNull();
});

it('CL937: a key that was refused is replaced in the row that says so, in the provider’s words, and the turn goes on', async () => {
  await open('/conversations/refused');
  const row = within(await screen.findByRole('article', { name: /refused the key: HTTP 401, Key expired/ }));
  expect(row.getByRole('link', { name: 'Use another model' }).getAttribute('href')).toBe('/settings');
  const use = row.getByRole('button', { name: 'Use it and try again' });
  expect(use.hasAttribute('disabled')).toBe(true);
  await userEvent.type(row.getByLabelText('Another key'), 'sk-new-0123456789{Enter}');
  await waitFor(() => expect(row.queryByLabelText('Another key')).toBeNull());
});

it('a log whose metrics are the cost alone is shown like any other', async () => {
  await open('/conversations/imported');
  await screen.findByText('There are 214.');
  expect(within(screen.getByRole('contentinfo')).getByText(/\$0\.30/)).toBeDefined();
});

it('TR715: the command can be changed before it is approved', async () => {
  await open('/conversations/ledger');
  const decision = within(await screen.findByRole('region', { name: 'Decision' }));
  await userEvent.click(decision.getByRole('button', { name: 'Edit' }));
  const field = decision.getByRole('textbox', { name: 'What runs instead' });
  await userEvent.clear(field);
  await userEvent.type(field, 'git push --dry-run');
  await userEvent.click(decision.getByRole('button', { name: /^Approve/ }));
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Decision' })).toBeNull());
});

it('TR718: what would allow the action is offered by name, and saving it approves', async () => {
  await open('/conversations/ledger');
  const decision = within(await screen.findByRole('region', { name: 'Decision' }));
  const always = await decision.findByRole('button', { name: 'Always here: git push' });
  await waitFor(() => expect(always.getAttribute('aria-disabled')).toBe('false'));
  await userEvent.click(always);
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Decision' })).toBeNull());
});

it('TR718: what is saved is what the button names, also when another action waits by then', async () => {
  const { fetch } = globalThis;
  const saved: unknown[] = [];
  let asked = 0;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const url = String(args[0]);
    if (url.endsWith('/confirmation/rules') && args[1]?.method === 'POST') saved.push(JSON.parse(String(args[1].body)));
    const answer = await fetch(...args);
    if (!url.endsWith('/confirmation') || asked++ === 0) return answer;
    const other = { ...((await answer.json()) as object), suggestions: [{ decision: 'allow', command: 'rm' }] };
    return new Response(JSON.stringify(other), { headers: { 'content-type': 'application/json' } });
  });
  onTestFinished(() => spy.mockRestore());
  await open('/conversations/ledger');
  const always = await screen.findByRole('button', { name: 'Always here: git push' });
  await waitFor(() => expect(always.getAttribute('aria-disabled')).toBe('false'));
  await userEvent.click(always);
  await waitFor(() => expect(saved).toMatchObject([{ rules: [{ command: 'git push' }] }]));
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Decision' })).toBeNull());
});

it('CL1353: where a rule holds is chosen with the keyboard; it is shown as it is saved, with what it would have decided before', async () => {
  const { fetch } = globalThis;
  const sent: unknown[] = [];
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((...args) => {
    if (/\/confirmation\/(?:trial|always)$/.test(String(args[0]))) sent.push(JSON.parse(String(args[1]?.body)));
    return fetch(...args);
  });
  onTestFinished(() => spy.mockRestore());
  await open('/conversations/ledger');
  const decision = within(await screen.findByRole('region', { name: 'Decision' }));
  const button = await decision.findByRole('button', { name: 'Always…' });
  expect(button.getAttribute('aria-expanded')).toBe('false');
  await userEvent.click(button);
  await decision.findByText('Would have allowed 3 of your last 40 decisions here. Of these you had rejected 1.');
  expect(document.activeElement).toBe(decision.getByRole('radio', { name: 'In this conversation' }));
  const rule = () => decision.getByRole('listitem').textContent?.trim();
  expect(rule()).toBe('Always allow git push');
  await userEvent.keyboard('{Escape}');
  expect(decision.queryByRole('radio')).toBeNull();
  expect(document.activeElement).toBe(button);
  await userEvent.keyboard('{Enter}');
  await userEvent.click(await decision.findByRole('button', { name: 'Back' }));
  expect(document.activeElement).toBe(button);
  await userEvent.keyboard('{Enter}');
  await userEvent.click(await decision.findByRole('radio', { name: 'In all conversations with harbor/ledger' }));
  expect(rule()).toBe('Always allow git push in harbor/ledger');
  decision.getByRole('radio', { name: 'In all conversations' });
  const save = decision.getByRole('button', { name: 'Save and approve' });
  await waitFor(() => expect(save.getAttribute('aria-disabled')).toBe('false'));
  await userEvent.click(save);
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Decision' })).toBeNull());
  const pushes = { decision: 'allow', command: 'git push' };
  expect(sent[0]).toEqual({ rules: [pushes] });
  expect(sent.at(-1)).toEqual({ rule: pushes, scope: 'repository' });
});

it('CL925 CL993 CL1270: what holds in this conversation is in its bar: what waits, which is changed for it alone, what was always allowed here, which is revoked, and the network', async () => {
  await open('/conversations/ledger');
  await userEvent.click(await screen.findByRole('button', { name: 'This conversation' }));
  const here = within(screen.getByRole('dialog', { name: 'This conversation' }));
  await here.findByText('What no rule allows waits for you.');
  const approvals = within(here.getByRole('region', { name: 'Approvals' }));
  approvals.getByText('as the server was started');
  const policy = () => approvals.getByLabelText('Agents ask before');
  await userEvent.selectOptions(policy(), 'What is risky');
  await approvals.findByText('chosen for this conversation');
  await userEvent.selectOptions(await approvals.findByLabelText('Who judges the risk'), 'The small model');
  await approvals.findByText('The small model, chosen for this conversation');
  await userEvent.selectOptions(policy(), 'As for all conversations');
  await approvals.findByText('What no rule allows waits for you.');
  await userEvent.click(await here.findByRole('button', { name: 'Revoke: Always allow git push' }));
  await here.findByText('None is saved.');
  const network = within(here.getByRole('region', { name: 'Network' }));
  await network.findByText(/^Commands reach package registries/);
  expect(network.getByRole('listitem').textContent).toBe('ads.examplerefused 3×: not on the list');
});

it('CL1155 CL1210: the bar says which models a conversation asks and who chose each; effort and stand-in are its own when it chooses', async () => {
  await open('/conversations/ledger');
  await userEvent.click(await screen.findByRole('button', { name: 'This conversation' }));
  const models = within(await screen.findByRole('region', { name: 'Models' }));
  const rows = () => models.getAllByRole('listitem').map(({ textContent }) => textContent);
  await models.findByText('demo');
  expect(rows()).toEqual([
    'Modeldemoas the server was started',
    'Efforthighas the settings have it',
    'Stands innobody chose one',
    'Smalldemo/smallas the server was started',
  ]);
  await userEvent.click(models.getByRole('button', { name: 'Change for this conversation' }));
  await userEvent.selectOptions(models.getByLabelText('How much the model thinks'), 'low');
  await userEvent.click(models.getByRole('button', { name: 'Save' }));
  await models.findByText('chosen for this conversation');
  expect(rows()[1]).toBe('Effortlowchosen for this conversation');

  // CL1210: what is chosen while the choice before is being stored stays open.
  const { fetch } = globalThis;
  const sent = Promise.withResolvers<void>();
  const network = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...given) => {
    if (given[1]?.method === 'PATCH') await sent.promise;
    return fetch(...given);
  });
  onTestFinished(() => network.mockRestore());
  await userEvent.click(models.getByRole('button', { name: 'Change for this conversation' }));
  const effort = models.getByLabelText<HTMLSelectElement>('How much the model thinks');
  await userEvent.selectOptions(effort, 'high');
  await userEvent.click(models.getByRole('button', { name: 'Save' }));
  await userEvent.selectOptions(effort, 'medium');
  sent.resolve();
  await waitFor(() => expect(rows()[1]).toBe('Efforthighchosen for this conversation'));
  expect(effort.value).toBe('medium');
  expect(effort.isConnected).toBe(true);
});

it('CL994: the model that is chosen in a conversation is its own, also one that no list has', async () => {
  const sent = vi.spyOn(globalThis, 'fetch');
  await open('/conversations/done');
  await userEvent.click(await screen.findByRole('button', { name: /^Model: / }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Filter model' }), 'my-own/model-1');
  await userEvent.click(screen.getByRole('button', { name: 'Use my-own/model-1' }));
  await screen.findByRole('button', { name: 'Model: my-own/model-1' });
  const changes = sent.mock.calls.filter(([, init]) => init?.method === 'PATCH' || init?.method === 'POST');
  expect(changes.map(([url, init]) => [new URL(String(url)).pathname, init?.body])).toEqual([
    ['/api/conversations/done', '{"llm_model":"my-own/model-1"}'],
  ]);
  sent.mockRestore();
});

it('CL22: a card folds and opens by click and by key', async () => {
  await open('/conversations/ledger');
  const card = await screen.findByRole('article', { name: /^Edited packages\/import\/src\/read-csv\.ts/ });
  const line = within(card).getByRole('button', { name: /Edited/ });
  expect(line.getAttribute('aria-expanded')).toBe('false');
  await userEvent.click(line);
  within(card).getByRole('table');
  card.focus();
  await userEvent.keyboard('{ArrowLeft}');
  expect(line.getAttribute('aria-expanded')).toBe('false');
  await userEvent.keyboard('o');
  expect(line.getAttribute('aria-expanded')).toBe('true');
});

it('CL832: what restoring a step would change is shown first; its parts are buttons, and a fork is opened', async () => {
  await open('/conversations/ledger');
  const card = within(await screen.findByRole('article', { name: /^Edited packages\/import\/src\/read-csv\.ts/ }));
  await userEvent.click(card.getByRole('button', { name: 'Restore to here' }));
  const restore = within(await card.findByRole('region', { name: 'Restore to here' }));
  const changes = within(await restore.findByRole('list', { name: 'What would change' }));
  expect(changes.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'packages/import/src/read-csv.tschanges',
    'samples/comma.csvgoes',
  ]);
  for (const name of ['Conversation only', 'Files and conversation']) restore.getByRole('button', { name });
  await userEvent.click(restore.getByRole('button', { name: 'Files only' }));
  await waitFor(() => expect(card.queryByRole('region', { name: 'Restore to here' })).toBeNull());
  await userEvent.click(card.getByRole('button', { name: 'Restore to here' }));
  await userEvent.click(await card.findByRole('button', { name: 'Fork from here' }));
  await waitFor(() => expect(document.title).toContain('Explain how the ledger rounds'));
});

it('CL762: the answers that a question offers are buttons; one is sent by a click, and then they are gone', async () => {
  await open('/conversations/export');
  const answers = within(await screen.findByRole('group', { name: 'Answers' }));
  answers.getByRole('button', { name: 'The smaller batches' });
  await userEvent.click(answers.getByRole('button', { name: 'The index' }));
  await screen.findByRole('article', { name: /^Your message.*The index$/ });
  await waitFor(() => expect(screen.queryByRole('group', { name: 'Answers' })).toBeNull());
});

it('CL760: the Plan tab lists the tasks of the newest plan with their states', async () => {
  await open('/conversations/ledger');
  await userEvent.click(await screen.findByRole('tab', { name: /^Plan/ }));
  const panel = within(screen.getByRole('tabpanel', { name: /^Plan/ }));
  const tasks = await panel.findAllByRole('listitem');
  expect(tasks.map(({ textContent }) => textContent?.replace(/(done|in progress)$/, ': $1'))).toEqual([
    'Find out why the samples fail: done',
    'Detect the delimiter from the first lines: done',
    'Read amounts with a decimal comma: done',
    'Cover both with tests: done',
    'Push the branch: in progress',
  ]);
});

it('CL29: the key map lists what the keyboard does', async () => {
  await open('/conversations/ledger');
  (await screen.findByRole('feed')).focus();
  await userEvent.keyboard('?');
  const keys = within(screen.getByRole('dialog', { name: 'Keyboard shortcuts' }));
  keys.getByText('Next message of yours');
  await userEvent.click(keys.getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Keyboard shortcuts' })).toBeNull());
});

it('CL29: the splitter is moved by keys, within its bounds, and its place is stored', async () => {
  await open('/conversations/ledger');
  const splitter = await screen.findByRole('separator', { name: 'Resize the workbench' });
  const place = () => [splitter.getAttribute('aria-valuenow'), localStorage.getItem('tendon.split')];
  splitter.focus();
  await userEvent.keyboard('{ArrowRight}');
  expect(place()).toEqual(['46', '45.5%']);
  await userEvent.keyboard('{Home}{ArrowLeft}');
  expect(place()).toEqual(['25', '25%']);
  await userEvent.keyboard('{Enter}');
  expect(place()).toEqual(['44', null]);
});

it('CL820: the agent of the next turn is chosen in the conversation, the one that only plans too', async () => {
  await open('/conversations/export');
  await userEvent.click(await screen.findByRole('button', { name: 'Agent: CodeAct' }));
  await userEvent.click(await screen.findByRole('button', { name: 'PlanAgent' }));
  expect(await screen.findByRole('button', { name: 'Agent: Plan' })).toBeDefined();
});

it('CL29: a slash offers commands; arrows choose, Enter takes, Escape closes', async () => {
  await open('/conversations/export');
  const message = await screen.findByRole('textbox', { name: 'Message' });
  await userEvent.type(message, '/');
  const commands = within(await screen.findByRole('listbox', { name: 'Commands' }));
  const chosen = () => commands.queryAllByRole('option', { selected: true }).map((one) => one.textContent);
  expect(chosen()).toEqual(['/pausePause the agent']);
  await userEvent.keyboard('{ArrowDown}');
  expect(chosen()).toEqual(['/resumeLet it go on']);
  await userEvent.keyboard('{Escape}');
  expect(screen.queryByRole('listbox', { name: 'Commands' })).toBeNull();
  await userEvent.clear(message);
  await userEvent.type(message, '/new{Enter}');
  await waitFor(() => expect(document.title).toContain('Tendon'));
});

it('CL944: a link to an event leads to its row, also to the result of a step', async () => {
  await open('/conversations/ledger#event-15');
  await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toMatch(/^Edited .*read-csv/));
  expect(document.activeElement?.querySelector('[aria-expanded]')?.getAttribute('aria-expanded')).toBe('true');
});

it('CL945: the stream is one stop of Tab: forwards it is left at once, backwards it has the focus as a whole', async () => {
  await open('/conversations/ledger');
  await screen.findByRole('article', { name: /^Edited .*read-csv/ });
  const feed = screen.getByRole('feed');
  feed.focus();
  await userEvent.tab();
  expect(feed.contains(document.activeElement)).toBe(false);
  await userEvent.tab({ shift: true });
  expect(document.activeElement).toBe(feed);
  const row = screen.getByRole('article', { name: /^Edited .*read-csv/ });
  row.focus();
  await userEvent.tab();
  expect(document.activeElement).toBe(within(row).getByRole('button', { name: /^Edited/ }));
  for (let stop = 0; row.contains(document.activeElement) && stop < 20; stop += 1) await userEvent.tab();
  expect(feed.contains(document.activeElement)).toBe(false);
});

it('CL947: a message whose files could not be sent comes back with the reason, before what was written meanwhile', async () => {
  const { fetch } = globalThis;
  const upload = Promise.withResolvers<Response>();
  const network = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation((...given) => (String(given[0]).includes('upload-files') ? upload.promise : fetch(...given)));
  onTestFinished(() => network.mockRestore());
  await open('/conversations/export');
  const message = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  await userEvent.type(message, 'look at this');
  const picker = document.querySelector<HTMLInputElement>('input[type=file]')!;
  await userEvent.upload(picker, new File(['a,b'], 'a.csv', { type: 'text/csv' }));
  await screen.findByText('a.csv');
  await userEvent.type(message, '{Enter}and that');
  await screen.findByText(/^Sending 1 file/);
  expect(message.value).toBe('and that');
  upload.reject(new TypeError('no network'));
  await screen.findByText(/^Could not reach/);
  screen.getByRole('button', { name: 'Remove a.csv' });
  await waitFor(() => expect(message.value.split(/\n+/).filter(Boolean)).toEqual(['look at this', 'and that']));
});

it('CL1140: a page asks the server for each thing once', async () => {
  const asked: string[] = [];
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((...args) => {
    asked.push(String(args[0]));
    return fetch(...args);
  });
  onTestFinished(() => spy.mockRestore());
  await open('/conversations/running');
  await screen.findByRole('textbox', { name: 'Commit message' });
  await screen.findByRole('button', { name: /^Agent:/ });
  expect(asked.filter((url, index) => asked.indexOf(url) !== index)).toEqual([]);
});

it('CL1340: the title of a conversation has a menu, which renames it and deletes it after a question', async () => {
  await open('/conversations/done');
  const menu = () => screen.findByRole('button', { name: 'Conversation menu' });
  await userEvent.click(await menu());
  const entries = await within(screen.getByRole('dialog', { name: 'Conversation menu' })).findAllByRole('button');
  expect(entries.map(({ textContent }) => textContent)).toEqual([
    ...['Rename', 'Share read-only', 'Copy a link to the conversation', 'Download as JSON', 'Delete'],
  ]);
  expect(document.activeElement).toBe(entries[0]);
  await userEvent.keyboard('{Enter}');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Title' }));
  await userEvent.keyboard('{Escape}');
  expect(document.activeElement).toBe(screen.getByTitle('Rename'));
  await userEvent.click(await menu());
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await screen.findByText('Delete “Explain how the ledger rounds currencies” with its events and files?');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Keep it' }));
  const fetched = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => fetched.mockRestore());
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await screen.findByRole('heading', { name: 'What do you want done?' });
  const deleted = fetched.mock.calls.filter(([, init]) => init?.method === 'DELETE').map(([url]) => String(url));
  expect(deleted).toEqual([expect.stringMatching(/\/api\/conversations\/done$/)]);
});

it('CL1341: what the agent says is copied, quoted below what is being written, and linked to', async () => {
  await open('/conversations/twice');
  const row = await screen.findByRole('article', { name: /^Agent: / });
  act(() => row.focus());
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  await userEvent.type(field, 'I read:');
  act(() => row.focus());
  await userEvent.click(within(row).getByRole('button', { name: 'Quote in reply' }));
  expect(field.value).toBe('I read:\n\n> There is one.\n\n');
  expect(document.activeElement).toBe(field);
  expect(within(row).getByRole('button', { name: 'Copy' })).toBeDefined();
  expect(within(row).getByRole('button', { name: 'Copy link' })).toBeDefined();
});

it('CL1342: words are found in the whole conversation, and what is chosen is gone to', async () => {
  await open('/conversations/ledger');
  await screen.findByRole('region', { name: 'Decision' });
  await userEvent.keyboard('{Control>}f{/Control}');
  const field = await screen.findByRole('combobox', { name: 'Find in this conversation' });
  expect(document.activeElement).toBe(field);
  await userEvent.type(field, 'SET-upstream');
  const hit = await screen.findByRole('option', { name: /git push --set-upstream/ });
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(hit.isConnected).toBe(false));
  expect(location.hash).toMatch(/^#event-\d+$/);
  await userEvent.keyboard('{Control>}f{/Control}');
  await userEvent.type(await screen.findByRole('combobox', { name: 'Find in this conversation' }), 'no such words');
  await screen.findByText('No match for “no such words”');
});
