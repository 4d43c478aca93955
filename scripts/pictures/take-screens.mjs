// Takes the pictures of the screens, of a server of made-up conversations whose clock stands.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOW, SCREENS } from './screens.mjs';

const WINDOW = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const DEADLINE_MS = 30_000;

/**
 * Into `folder`, as `NAME.webp`, `NAME-dark.webp` and `NAME-phone.webp`; only those whose name has `word` in it.
 * `asPng` writes PNG instead, for programs that cannot show WebP.
 */
export async function takeScreens({ node, browser, folder, word = '', asPng = false }) {
  for (const [model, screens] of Map.groupBy(SCREENS, (screen) => screen.model ?? 'demo')) {
    const wanted = screens.flatMap(looksOf).filter(({ name }) => name.includes(word));
    if (wanted.length === 0) continue;
    const server = spawn(node, [join(import.meta.dirname, 'story-server.mjs')], {
      env: { ...process.env, MODEL: model, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [address] = await once(server.stdout, 'data');
      for (const look of wanted) {
        const picture = await pictureOf(browser, String(address).trim(), look, asPng ? 'png' : 'webp');
        const path = join(folder, `${look.name}.${asPng ? 'png' : 'webp'}`);
        if (asPng || !existsSync(path) || (await differ(browser, readFileSync(path), picture))) writeFileSync(path, picture);
      }
    } finally {
      server.kill();
      await once(server, 'exit');
    }
  }
}

/** Whether a person could see it: edges of letters come out a little different each time, and that is no other picture. */
async function differ(browser, before, after) {
  const page = await browser.newPage();
  const sources = [before, after].map((picture) => `data:image/webp;base64,${picture.toString('base64')}`);
  const count = await page.evaluate(async (urls) => {
    const pixelsOf = async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    };
    const [old, now] = await Promise.all(urls.map(pixelsOf));
    return old.length === now.length ? now.filter((value, index) => Math.abs(value - old[index]) > 40).length : Infinity;
  }, sources);
  await page.close();
  return count > 0;
}

function looksOf({ name, themes = ['light'], isPhone = false, ...screen }) {
  const looks = themes.map((theme) => ({ ...screen, name: theme === 'light' ? name : `${name}-${theme}`, theme, viewport: WINDOW }));
  return isPhone ? [...looks, { ...screen, name: `${name}-phone`, theme: 'light', viewport: PHONE }] : looks;
}

async function pictureOf(browser, address, { name, path, reach = [], theme, viewport }, format) {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
    timezoneId: 'UTC',
    locale: 'en-GB',
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(DEADLINE_MS);
    await page.clock.setFixedTime(NOW);
    await page.goto(`${address}${path}`);
    for (const step of reach) await step(page);
    await page.waitForLoadState('networkidle');
    await page.evaluate('document.fonts.ready');
    // A caret blinks.
    await page.addStyleTag({ content: '* { caret-color: transparent !important; }' });
    const devtools = await context.newCDPSession(page);
    const { data } = await devtools.send('Page.captureScreenshot', { format, ...(format === 'webp' && { quality: 82 }) });
    return Buffer.from(data, 'base64');
  } catch (error) {
    throw new Error(`The picture ${name} could not be taken: ${error.message}`, { cause: error });
  } finally {
    await context.close();
  }
}
