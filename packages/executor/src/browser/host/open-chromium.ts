import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { HostConfig } from '@tendon/protocol/executor-api';
import { reasonOf } from '../../action-handler.ts';
import { findChromium, NO_CHROMIUM, NO_CHROMIUM_BESIDE } from './find-chromium.ts';
import { loadChromiumType } from './load-playwright.ts';

export interface OpenedChromium {
  readonly context: BrowserContext;
  /** What a user should know of how it runs. */
  readonly note?: string;
}

const START_DEADLINE_MS = 60_000;
const VIEWPORT = { width: 1280, height: 720 };
/** Of several such lists the last one counts, so what Playwright turns off is named here again; the rest saves memory and requests. */
const DISABLED_FEATURES = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'],
  ...['LensOverlay', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
  ...['PreloadTopChromeWebUI', 'DialMediaRouteProvider', 'AutofillServerCommunication', 'Translate'],
];
const ARGUMENTS = [
  '--disable-gpu',
  '--disable-breakpad',
  '--disk-cache-size=52428800',
  '--renderer-process-limit=4',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
];

/** Starts a Chromium with the profile, or throws an Error whose message can be shown. */
export async function openChromium(config: HostConfig): Promise<OpenedChromium> {
  const program = config.chromium ?? findChromium(process.env);
  if (program === undefined) throw new Error(config.isSidecar ? NO_CHROMIUM_BESIDE : NO_CHROMIUM);
  prepareProfile(config.profile);
  const isRoot = process.getuid?.() === 0;
  try {
    const context = await launch(program, config, !isRoot);
    return { context, ...(isRoot && { note: 'Chromium runs as root, and so without its own sandbox.' }) };
  } catch (error) {
    if (isRoot || !/No usable sandbox|namespace|setuid sandbox|zygote/i.test(reasonOf(error))) throw startFailure(program, error);
    const context = await launch(program, config, false).catch((second: unknown) => Promise.reject(startFailure(program, second)));
    return { context, note: 'Chromium cannot make its own sandbox here and runs without it, inside this one.' };
  }
}

function launch(program: string, { profile, proxyUrl }: HostConfig, chromiumSandbox: boolean): Promise<BrowserContext> {
  return loadChromiumType().launchPersistentContext(join(profile, 'data'), {
    executablePath: program,
    headless: true,
    chromiumSandbox,
    viewport: VIEWPORT,
    acceptDownloads: true,
    downloadsPath: join(profile, 'downloads'),
    timeout: START_DEADLINE_MS,
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    args: [
      ...ARGUMENTS,
      // Loopback inside the sandbox is direct, as Chromium has it by itself: there are the agent's own servers.
      ...(proxyUrl === undefined ? [] : [`--proxy-server=${proxyUrl}`]),
    ],
  });
}

/** A profile whose last browser was killed looks as if it were in use: nobody else uses this one. */
function prepareProfile(profile: string): void {
  const data = join(profile, 'data');
  mkdirSync(join(data, 'Default'), { recursive: true, mode: 0o700 });
  for (const name of ['SingletonLock', 'SingletonCookie', 'SingletonSocket']) rmSync(join(data, name), { force: true });
  rmSync(join(profile, 'downloads'), { recursive: true, force: true });
  // A PDF becomes a download, which tools can read; the viewer's picture of it nobody can.
  writeNew(join(data, 'Default', 'Preferences'), { plugins: { always_open_pdf_externally: true } });
  // Chromium sends a dummy of an Encrypted Client Hello with every connection, and the policy allowlist refuses what may hide a name.
  writeNew(join(data, 'Local State'), { ssl: { ech_enabled: false } });
}

function writeNew(path: string, content: unknown): void {
  if (!existsSync(path)) writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
}

/** What Chromium itself printed, where it did; around it stand its command line and the log of the launch. */
function startFailure(program: string, error: unknown): Error {
  const lines = reasonOf(error).split('\n');
  const printed = [...new Set(lines.flatMap((line) => /\[err\] (.*)/.exec(line)?.[1] ?? []))].filter((line) => !/dbus/i.test(line));
  const lastLines = printed.length > 0 ? printed : [lines[0]!.replace(/^browserType\.\w+: /, '')];
  return new Error(`the Chromium ${program} did not start: ${lastLines.slice(-4).join(' · ').slice(0, 800)}`);
}
