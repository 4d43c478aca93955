import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BrowserType } from 'playwright-core';

/** Beside the built executor lie the few files of the packages that are needed; in development there are the packages. */
const require = createRequire(import.meta.url);

export function loadChromiumType(): BrowserType {
  const { chromium } = require(shipped('playwright-core/index.js') ?? 'playwright-core') as { chromium: BrowserType };
  return chromium;
}

/** The script that defines `Defuddle` in a page. */
export function loadDefuddle(): string {
  return readFileSync(shipped('defuddle.js') ?? require.resolve('defuddle/full'), 'utf8');
}

function shipped(name: string): string | undefined {
  const path = fileURLToPath(new URL(name, import.meta.url));
  return existsSync(path) ? path : undefined;
}
