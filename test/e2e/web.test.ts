/** The web app in Chromium against a real server, by role and name. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import type { Browser, Page } from 'playwright-core';
import { fakeProvider } from '../../packages/server/src/git-providers/apis/fake-provider.test-support.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { expectAccessible, expectVisible, focusedName, launchBrowser, openPage } from './web-browser.ts';

const PATIENT = { timeout: 60_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const article = (page: Page, name: string | RegExp) => page.getByRole('article', { name });
const expectState = (page: Page, text: string | RegExp) => expectVisible(page.locator('.state-line').getByText(text));

/** From the home page, as a person does it. */
async function start(page: Page, task: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Task' }).fill(task);
  await page.getByRole('textbox', { name: 'Task' }).press('Enter');
  await page.waitForURL(/\/conversations\/[0-9a-f]{32}$/);
}

describe('on the demo model', () => {
  let tendon: TendonProcess;
  beforeAll(async () => {
    tendon = await TendonProcess.start();
  });
  afterAll(() => tendon.remove());

  it('CL21 CL25: a task is typed, really done, shown step by step, and the list says the same sentence', async () => {
    const page = await openPage(browser, tendon.url);
    await page.getByRole('heading', { name: 'What do you want done?', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'You are on the demo model' }).waitFor();
    expect(await focusedName(page)).toBe('Task');

    await start(page, 'write a bash script that prints hello');
    await article(page, /^Your message.*write a bash script that prints hello/).waitFor();
    await article(page, /^Wrote hello\.sh, \+2/).waitFor();
    await article(page, /^Ran bash .*hello\.sh/)
      .getByText('hello', { exact: true })
      .waitFor();
    await article(page, /^Done$/).waitFor();
    await expectState(page, 'Done, 1 file edited');
    await expect.poll(() => page.title(), PATIENT).toMatch(/^Done, 1 file edited – /);

    await page.getByRole('tab', { name: 'Changes 1' }).waitFor();
    await page.getByRole('region', { name: 'hello.sh' }).getByText('#!/usr/bin/env bash').waitFor();
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await page
      .getByRole('tabpanel')
      .getByText(/\$ bash/)
      .waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Tendon, home' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'prints hello' });
    await row.getByText(/^Done/).waitFor();
    await row.getByText('demo').waitFor();
    await expectAccessible(page);
  });

  itInFull('a second task goes on in the same conversation, and another browser sees all of it', async () => {
    const page = await openPage(browser, tendon.url);
    await start(page, 'write a python script that prints one');
    await article(page, /^Done/).waitFor();
    await composer(page).fill('write a bash script that prints two');
    await composer(page).press('Enter');
    await article(page, /^Your message.*prints two/).waitFor();
    await expect.poll(() => article(page, /^Done$/).count(), PATIENT).toBe(2);
    const other = await openPage(browser, page.url(), { theme: 'dark' });
    await expect.poll(() => article(other, /^Done$/).count(), PATIENT).toBe(2);
    await expectAccessible(other);
  });

  it('CL970 CL971: files are uploaded, shown, edited and saved, and a text that a program wrote meanwhile is not lost', async () => {
    const page = await openPage(browser, tendon.url, { theme: 'dark' });
    await start(page, 'write a bash script that prints hello');
    await article(page, /^Done/).waitFor();
    const url = `${tendon.url}/api/conversations/${page.url().split('/').at(-1)}`;
    const save = (content: string) =>
      fetch(`${url}/save-file`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ filePath: 'hello.sh', content }),
      });
    const saved = async () => ((await (await fetch(`${url}/select-file?file=hello.sh`)).json()) as { code: string }).code;
    await page.getByRole('tab', { name: 'Files' }).click();
    const files = page.getByRole('region', { name: 'Workspace' });
    await files.getByRole('button', { name: 'hello.sh' }).click();
    const text = files.getByRole('textbox', { name: 'Text of hello.sh' });
    await save('echo one\r\necho two\r\n');
    await page.reload();
    await page.getByRole('tab', { name: 'Files' }).click();
    await files.getByRole('button', { name: 'hello.sh' }).click();
    await text.getByText('echo two').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('# mine');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+s');
    await files.getByText('Saved', { exact: true }).waitFor();
    expect(await saved()).toBe('# mine\r\necho one\r\necho two\r\n');

    await page.keyboard.type('# more ');
    await save('# theirs\n');
    await files.getByRole('button', { name: /^Save/ }).click();
    const asked = files.getByRole('alert');
    await asked.getByText('hello.sh changed while you were editing.').waitFor();
    expect(await saved()).toBe('# theirs\n');
    await asked.getByRole('button', { name: 'Show the difference' }).click();
    await asked.getByRole('table').getByText('# theirs').waitFor();
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Take what is there now' }).click();
    await text.getByText('# theirs').waitFor();

    const picture = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await files.getByLabel('Files for the workspace').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture });
    await files.getByText('Uploaded 1 file to the workspace').waitFor();
    await files.getByRole('button', { name: 'dot.png', exact: true }).click();
    await files.getByRole('img', { name: 'dot.png' }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), files.getByRole('button', { name: 'Download dot.png' }).click()]);
    expect(download.suggestedFilename()).toBe('dot.png');
  });

  it('CL972: a shell of one’s own is beside the agent’s, stays while other tabs are looked at, and says how it ended', async () => {
    const made = await fetch(`${tendon.url}/api/conversations`, { method: 'POST' });
    const { conversation_id: id } = (await made.json()) as { conversation_id: string };
    const page = await openPage(browser, `${tendon.url}/conversations/${id}`);
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await page.getByText('No shell yet').waitFor();
    await page.getByRole('button', { name: 'Open your own' }).click();
    const shell = page.getByRole('textbox', { name: 'Your shell. F6 leaves it.' });
    const prints = (text: string) => page.getByRole('tabpanel').getByText(text, { exact: true }).waitFor();
    await shell.waitFor();
    await page.keyboard.type('echo six=$((6*7))');
    await page.keyboard.press('Enter');
    await prints('six=42');
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Plan' }).click();
    await page.getByText('No plan yet').waitFor();
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await prints('six=42');
    await shell.press('F6');
    expect(await focusedName(page)).not.toBe('Your shell. F6 leaves it.');
    await shell.focus();
    await page.keyboard.type('exit 3');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The shell ended (exit 3).').waitFor();
    await page.getByRole('button', { name: 'Start a new one' }).click();
    await page.getByText('The shell ended').waitFor({ state: 'detached' });
  });

  it('CL595: what the build made is sent compressed', async () => {
    const page = await (await fetch(tendon.url)).text();
    const script = /<link rel="modulepreload"[^>]* href="([^"]+\/common-[^"]+)"/.exec(page)![1]!;
    const [plain, ...compressed] = await Promise.all(
      ['identity', 'gzip', 'br'].map((encoding) => fetch(tendon.url + script, { headers: { 'accept-encoding': encoding } })),
    );
    const text = await plain!.text();
    expect(compressed.map((one) => one.headers.get('content-encoding'))).toEqual(['gzip', 'br']);
    for (const one of compressed) expect(Number(one.headers.get('content-length'))).toBeLessThan(text.length / 2);
    for (const one of compressed) expect((await one.text()) === text).toBe(true);
  });

  it('the theme is there before the first paint, and a choice stays', async () => {
    const page = await openPage(browser, tendon.url, { theme: 'dark' });
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.getByRole('button', { name: 'Switch to light' }).click();
    await page.reload();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('light');
  });

  itInFull('CL29, CL946: on a phone it is one column, the tabs are pages, and the state stays in sight', async () => {
    const page = await openPage(browser, tendon.url, { width: 390, height: 844 });
    await start(page, 'write a node script that prints three');
    await article(page, /^Done/).waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: /^Changes/ }).click();
    await page.getByRole('tabpanel').getByText('1 file').waitFor();
    expect(await page.getByRole('feed').isVisible()).toBe(false);
    await expectState(page, /^Done/);
    expect(await page.locator('.state-line').isVisible()).toBe(true);
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await page.getByRole('feed').waitFor();
    await page.getByRole('link', { name: 'Back to conversations' }).click();
    await page.getByRole('heading', { name: 'Conversations' }).waitFor();
    await expectAccessible(page);
  });

  it('an unknown conversation says so', async () => {
    const page = await openPage(browser, `${tendon.url}/conversations/${'0'.repeat(32)}`);
    await expectVisible(page.getByRole('heading', { name: 'There is no page here' }));
  });
});

itInFull('CL5: a server with a key asks for it, and goes on with it', async () => {
  const tendon = await TendonProcess.start({ SESSION_API_KEY: 'open-sesame-and-more-1' });
  onTestFinished(() => tendon.remove());
  const page = await openPage(browser, tendon.url);
  await page.getByText('Enter the access key of this server.').waitFor();
  await page.getByText('Signed out').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Key of this server').fill('wrong-sesame-1');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This server does not accept the key.').waitFor();
  await page.getByLabel('Key of this server').fill('open-sesame-and-more-1');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('No conversations yet').waitFor();
  await start(page, 'write a bash script that prints hello');
  await expectState(page, 'Done, 1 file edited');
});

/** A server whose model plays these answers. */
async function scripted(answers: readonly unknown[]): Promise<TendonProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-web-'));
  const path = join(folder, 'script.json');
  writeFileSync(path, JSON.stringify(answers));
  const tendon = await TendonProcess.start({ LLM_MODEL: `scripted/${path}` });
  onTestFinished(async () => {
    await tendon.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  return tendon;
}

const bash = (command: string, text = '') => ({ text, toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const WAITS = 'for i in $(seq 2000); do echo "row $i"; sleep 0.1; done';

describe('while it works', () => {
  itInFull('output is live, Stop ends it, and the conversation goes on', async () => {
    const tendon = await scripted([bash(WAITS, 'I will count.'), { text: 'Here I am again.' }]);
    const page = await openPage(browser, tendon.url);
    await start(page, 'count');
    await expectState(page, /^Running for i in/);
    await article(page, /^Ran for i in/)
      .getByText(/row \d+/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectState(page, 'Stopped by you');
    await article(page, /^Stopped by you$/).waitFor();
    await article(page, /^Ran for i in.*, stopped by you/).waitFor();
    await composer(page).fill('go on');
    await composer(page).press('Enter');
    await page.getByText('Here I am again.').waitFor();
    await expectState(page, 'Your turn');
  });

  it('CL1151: a message waits for the step that runs; sent now, it stops the step, and the agent goes on with it', async () => {
    const tendon = await scripted([bash(WAITS, 'I will count.'), { text: 'I have read it.' }]);
    const page = await openPage(browser, tendon.url);
    await start(page, 'count');
    await expectState(page, /^Running for i in/);
    await composer(page).fill('count to three only');
    await composer(page).press('Enter');
    await article(page, /^Your message, .*count to three only/)
      .getByText('The agent reads this after the step that runs')
      .waitFor();
    await composer(page).fill('now');
    await composer(page).press('ControlOrMeta+Shift+Enter');
    await article(page, /^Ran for i in.*, stopped by you/).waitFor();
    await page.getByText('I have read it.').waitFor();
    await expectState(page, 'Your turn');
  });

  itInFull('Pause holds it and Resume lets it go on', async () => {
    const tendon = await scripted([bash('until [ -e go ]; do sleep 0.1; done; echo waited'), bash('echo second'), { text: 'Both ran.' }]);
    const page = await openPage(browser, tendon.url);
    await start(page, 'two commands');
    await expectState(page, /^Running until/);
    await page.keyboard.press('Control+.');
    await expectState(page, /^Pausing: the command ends first/);
    const id = page.url().split('/').at(-1);
    await tendon.json(`/api/conversations/${id}/save-file`, { filePath: 'go', content: '' });
    await expectState(page, 'Paused by you');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Both ran.').waitFor();
  });

  it('CL976: what a delegated agent does is nested under its step, live, and can be stopped there', async () => {
    const model = await startScriptedModel();
    onTestFinished(() => model.close());
    const tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'key-of-no-one', LLM_BASE_URL: model.url });
    onTestFinished(() => tendon.remove());
    const part = model.script([
      { call: 'execute_bash', args: { command: WAITS } },
      { call: 'finish', args: { message: 'counted' } },
    ]);
    const whole = model.script([
      { call: 'delegate', args: { task: part } },
      { call: 'finish', args: { message: 'all is done' } },
    ]);
    const page = await openPage(browser, tendon.url);
    await start(page, whole);
    const thread = page.getByRole('region', { name: 'What CodeActAgent does' });
    await thread.getByRole('button', { name: /^for i in/ }).waitFor();
    await expectAccessible(page);
    await thread.getByRole('button', { name: 'Stop it' }).click();
    await article(page, /^Done/).waitFor();
    await article(page, /^CodeActAgent/)
      .getByRole('button', { name: /^CodeActAgent/ })
      .click();
    await thread.getByRole('link', { name: 'Open thread' }).click();
    await article(page, /^Ran for i in.*, stopped by you/).waitFor();
  });

  itInFull('CL4: a message written while the server is away waits, and is sent once when it is back', async () => {
    const tendon = await scripted([{ text: 'First answer.' }, { text: 'Second answer.' }]);
    const page = await openPage(browser, tendon.url);
    await start(page, 'one');
    await page.getByText('First answer.').waitFor();
    await expectState(page, 'Your turn');
    await tendon.kill('SIGKILL');
    await page
      .getByText(/^Was your turn/)
      .first()
      .waitFor();
    await composer(page).fill('two');
    await composer(page).press('Enter');
    await page.getByText('Not sent yet').waitFor();
    await page
      .locator('.state-line')
      .getByText(/^(?:Reconnecting…|Offline)/)
      .first()
      .waitFor();
    await expectAccessible(page);
    await tendon.start();
    await page.getByText('Second answer.').waitFor();
    expect(await article(page, /^Your message.*two$/).count()).toBe(1);
    expect(await page.getByText('Not sent yet').count()).toBe(0);
  });

  itInFull('CL25: a failing model stops it with its cause, and it can be tried again', async () => {
    const tendon = await scripted([{ failure: 'LLM_AUTHENTICATION', detail: 'bad key' }, { text: 'Now it works.' }]);
    const page = await openPage(browser, tendon.url);
    await start(page, 'hello');
    await expectState(page, /^Stopped: /);
    await expectAccessible(page);
    await page.locator('.state-line').getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Now it works.').waitFor();
  });
});

describe('review', () => {
  it(
    'CL950 CL951 CL952 CL953: what a shell changed is commented, mended by the agent, and becomes a pull request, without a terminal',
    { timeout: 120_000 },
    async () => {
      const pull = { number: 11, html_url: 'https://github.example/ann/tools/pull/11', head: { ref: 'fix/two' } };
      const github = await fakeProvider('ghp_0123456789', {
        'GET /api/v3/user': () => ({ body: { id: 1, login: 'ann', avatar_url: '' } }),
        'POST /api/v3/repos/ann/tools/pulls': () => ({ status: 201, body: pull }),
      });
      const folder = mkdtempSync(join(tmpdir(), 'tendon-review-'));
      const [base, remote] = [join(folder, 'base'), join(folder, 'remote')];
      const git = (...args: string[]) => execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], { cwd: folder, encoding: 'utf8' });
      git('init', '-q', '--bare', remote);
      git('init', '-q', base);
      writeFileSync(join(base, 'count.txt'), 'one\ntwo\nthree\n');
      for (const [name, value] of [
        ['user.name', 'Ann'],
        ['user.email', 'ann@example.com'],
        [`url.${remote}.insteadOf`, `${github.origin}/ann/tools.git`],
      ])
        git('-C', base, 'config', name!, value!);
      git('-C', base, 'remote', 'add', 'origin', `${github.origin}/ann/tools.git`);
      git('-C', base, 'add', '.');
      git('-C', base, 'commit', '-qm', 'one');
      git('-C', base, 'push', '-q', '-u', 'origin', 'main');
      const script = [
        bash("sed -i 's/two/TWO/' count.txt; echo x > stray.txt", 'I use the shell.'),
        { text: 'Changed.' },
        bash("sed -i 's/TWO/Two/' count.txt"),
        { text: 'Mended.' },
      ];
      const tendon = await TendonProcess.scripted(script, { WORKSPACE_BASE: base });
      onTestFinished(async () => {
        await tendon.remove();
        rmSync(folder, { recursive: true, force: true });
      });
      await tendon.json('/api/add-git-providers', { provider_tokens: { github: { token: 'ghp_0123456789', host: github.origin } } });

      const page = await openPage(browser, tendon.url);
      await start(page, 'shout');
      await page.getByText('Changed.').waitFor();
      await page.getByRole('tab', { name: /^Changes/ }).click();
      const file = page.getByRole('region', { name: 'count.txt' });
      await file.getByText('TWO', { exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Changes 2' }).waitFor();
      await file.getByRole('button', { name: 'Comment on line 2', exact: true }).click();
      await page.keyboard.type('Not so loud.');
      await page.keyboard.press('Control+Enter');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Send to the agent' }).click();
      await article(page, /^Your message.*Comments on the changes/)
        .getByText('count.txt, line 2:')
        .waitFor();
      await page.getByText('Mended.').waitFor();
      await file.getByText('Two', { exact: true }).waitFor();

      await page.getByRole('navigation', { name: 'Changed files' }).getByRole('button', { name: /stray/ }).click();
      await page.getByRole('region', { name: 'stray.txt' }).getByRole('button', { name: 'Revert file' }).click();
      await page.getByText('stray.txt was reverted').waitFor();
      await page.getByRole('button', { name: 'Undo', exact: true }).click();
      await page.getByRole('tab', { name: 'Changes 2' }).waitFor();

      await page.getByRole('button', { name: 'New branch' }).click();
      await page.getByRole('textbox', { name: 'Name of the branch' }).fill('fix/two');
      await page.keyboard.press('Enter');
      await page.getByText('On fix/two').waitFor();
      await page.getByRole('textbox', { name: 'Commit message' }).fill('fix: count calmly');
      await page.getByRole('button', { name: 'Commit 2 files' }).click();
      await page.getByText('Everything is committed.').waitFor();
      await page.getByRole('button', { name: 'Open pull request' }).click();
      await page.getByText(/to ann\/tools on GitHub/).waitFor();
      await page.getByRole('textbox', { name: 'Title' }).fill('Count calmly');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: pull.html_url }).waitFor();
      expect(git('-C', remote, 'show', 'fix/two:count.txt')).toBe('one\nTwo\nthree\n');
      expect(JSON.parse(github.bodies.at(-1)!)).toMatchObject({ head: 'fix/two', base: 'main', title: 'Count calmly' });
    },
  );
});

describe('decisions', () => {
  async function asked(): Promise<Page> {
    const tendon = await scripted([bash('rm -rf build && echo removed'), { text: 'Decided.' }]);
    await tendon.json('/api/settings', { confirmation_mode: true, security_analyzer: '' });
    const page = await openPage(browser, tendon.url);
    await start(page, 'clean up');
    await page.getByRole('region', { name: 'Decision' }).getByText('rm -rf build && echo removed').waitFor();
    await expectState(page, 'Waiting for your decision');
    return page;
  }

  itInFull('CL26: the action is shown whole and once; approving runs it', async () => {
    const page = await asked();
    await expect.poll(() => page.title(), PATIENT).toMatch(/^Waiting for your decision – /);
    expect(await page.getByText('rm -rf build').count()).toBe(1);
    await expectAccessible(page);
    // Keys are dead while the decision is new; from then on one press is enough.
    await expect
      .poll(async () => {
        await page.keyboard.press('Control+Enter');
        return page.getByRole('region', { name: 'Decision' }).count();
      }, PATIENT)
      .toBe(0);
    await expectVisible(page.getByText('Decided.'));
    await article(page, /^Ran rm -rf build/).waitFor();
  });

  itInFull(
    'CL983 CL986 CL990: what waits is approved from Home by keyboard on a phone; the settings and the timeline hide nothing from anybody',
    async () => {
      const page = await asked();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.getByRole('link', { name: 'Back to conversations' }).click();
      const inbox = page.getByRole('region', { name: /^Needs you 1/ });
      await inbox.getByText('rm -rf build && echo removed').waitFor();
      await expectAccessible(page);
      await inbox.getByRole('button', { name: 'Approve', disabled: false }).press('Enter');
      await inbox.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: /clean up/ }).click();
      await expectVisible(page.getByText('Decided.'));
      await page.setViewportSize({ width: 1600, height: 900 });
      await page.getByRole('navigation', { name: 'Conversations' }).waitFor();
      await page.getByRole('button', { name: 'Show the workbench' }).click();
      await page.getByRole('tab', { name: 'Timeline' }).click();
      await page.getByRole('button', { name: 'Back to here: clean up' }).click();
      await page.getByText('Back to before this message was sent.').waitFor();
      await expectAccessible(page);
      await page.goto(new URL('/settings/keys', page.url()).href);
      await page.getByRole('button', { name: 'Create key' }).waitFor();
      await expectAccessible(page);
    },
  );

  it('CL26 CL1152: rejecting takes a reason, and nothing runs; in a low window the stream keeps its part', async () => {
    const page = await asked();
    await page.setViewportSize({ width: 700, height: 450 });
    await page.getByRole('button', { name: /^Reject/ }).click({ trial: true });
    await page.waitForFunction('document.querySelector(".stream-frame").clientHeight >= 100');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('not today');
    await page.keyboard.press('Enter');
    await expectVisible(page.getByText('Decided.'));
    await article(page, /rm -rf build.*rejected/).waitFor();
  });
});
