/** A person's hands on the agent's terminal, in Chromium, against a real server and sandbox. */
import { startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { expectAccessible, launchBrowser, openPage } from './web-browser.ts';

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser()));
afterAll(() => browser.close());

const PERSON = { name: 'The agent’s terminal. F6 leaves it.' };

it('CL1241: a question in the agent’s terminal is answered there by the person, also past the end of a server, and the agent goes on knowing it', async () => {
  const model = await startScriptedModel();
  onTestFinished(() => model.close());
  const tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'key-of-no-one', LLM_BASE_URL: model.url });
  onTestFinished(() => tendon.remove());
  const ask = 'read -r -p "Overwrite? " answer; echo "answered=$answer"';
  const task = model.script([
    { call: 'execute_bash', args: { command: ask, timeout: 600 } },
    { call: 'finish', args: { message: 'gone on' } },
  ]);
  const page = await openPage(browser, tendon.url);
  await page.getByRole('textbox', { name: 'Task' }).fill(task);
  await page.getByRole('textbox', { name: 'Task' }).press('Enter');
  await page.getByRole('tab', { name: 'Terminal' }).click();
  const panel = page.getByRole('tabpanel');
  await panel.getByText('Overwrite?').first().waitFor();
  await panel.getByRole('button', { name: 'Take over', exact: true }).click();
  await page.getByRole('textbox', PERSON).waitFor();
  await panel.getByText('You are typing. The agent waits.').waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'You have the terminal' }).waitFor();
  await page.keyboard.type('yes');
  await page.keyboard.press('Enter');
  await panel.getByText('answered=yes', { exact: true }).waitFor();
  await expectAccessible(page);

  await tendon.kill('SIGKILL');
  await tendon.ended;
  await tendon.start();
  await panel.getByRole('button', { name: 'Take over here' }).click();
  await page.getByRole('textbox', PERSON).waitFor();
  await page.keyboard.type('echo by=$((6*7))');
  await page.keyboard.press('Enter');
  await panel.getByText('by=42', { exact: true }).waitFor();
  await panel.getByRole('button', { name: 'Give back' }).click();
  await page.getByRole('article', { name: /^Done/ }).waitFor();
  await page.getByRole('article', { name: /^You typed in the agent’s terminal/ }).waitFor();
  await page.getByRole('button', { name: 'You have the terminal' }).waitFor({ state: 'detached' });
  expect(JSON.stringify(model.requests(task).at(-1))).toContain('by=42');
});
