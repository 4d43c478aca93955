import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isExecutable } from '@tendon/protocol/node';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chrome-headless-shell',
  'microsoft-edge',
];
/** Before PATH: what the names there start through a script that reads files which a sandbox does not have. */
const PLACES = ['/usr/lib/chromium/chromium', '/usr/lib64/chromium-browser/chromium-browser', '/opt/google/chrome/chrome'];
const VARIABLES = ['CHROMIUM_PATH', 'CHROME_PATH', 'CHROME'];
/** Where Playwright and Puppeteer put theirs, below the home. */
const CACHES = ['.cache/ms-playwright', '.cache/puppeteer/chrome'];
const IN_CACHE = ['chrome-linux/chrome', 'chrome-linux64/chrome', 'chrome-linux/headless_shell'];

/** What to do where there is none. */
export const NO_CHROMIUM =
  'No Chromium was found in the sandbox. Install one (Debian: apt-get install chromium; Alpine: apk add chromium; or Google Chrome), or set CHROMIUM_PATH to its program. Pages can be read with curl meanwhile.';

/** The same for the browser beside a container: the host has none either. */
export const NO_CHROMIUM_BESIDE =
  'Neither the image of the sandbox nor the host has a Chromium. Install one on the host (Debian: apt-get install chromium), or use an image with one. Pages can be read with curl meanwhile.';

/** The Chromium to use, by its path. A variable that names one decides, also when nothing is there. */
export function findChromium(
  env: Readonly<Record<string, string | undefined>>,
  isProgram: (path: string) => boolean = isExecutable,
): string | undefined {
  const named = VARIABLES.map((name) => env[name]).find((path) => path !== undefined && path !== '');
  if (named !== undefined) return isProgram(named) ? named : undefined;
  const onPath = NAMES.flatMap((name) => (env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)));
  return [...PLACES, ...onPath].find(isProgram) ?? inCaches(env.HOME).find(isProgram);
}

function inCaches(home: string | undefined): readonly string[] {
  if (home === undefined) return [];
  return CACHES.flatMap((cache) => versionsIn(join(home, cache)).flatMap((version) => IN_CACHE.map((path) => join(version, path))));
}

/** The newest first. */
function versionsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^(?:chromium|linux)/.test(name))
      .toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
