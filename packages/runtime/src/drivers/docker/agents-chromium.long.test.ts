import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACTIONS } from '@tendon/protocol';
import { createTestSandboxes, executorFolder, never, observe, run } from '../../testing/sandboxes.ts';
import { createDockerDriver } from './docker-driver.ts';
import { openEngine, type TestEngine } from '../../testing/containers/open-engine.ts';

/** Where Playwright puts one; the image has none of its own. */
const PLANTED = '.cache/ms-playwright/chromium-1/chrome-linux/chrome';

describe('a program that the agent gives out for a Chromium', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await openEngine('docker');
  });
  afterAll(() => engine?.close());

  it('SB411: runs with the agent’s programs and makes no namespace', async () => {
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm') });
    const sandboxes = createTestSandboxes(driver);
    try {
      const runtime = await sandboxes.runtimes.acquire('planted', { signal: never });
      const planted = await run(
        runtime,
        `mkdir -p ~/${PLANTED.slice(0, PLANTED.lastIndexOf('/'))}; printf '#!/bin/sh\\nunshare --user true 2> /workspace/printed\\n' > ~/${PLANTED}; chmod +x ~/${PLANTED}`,
      );
      expect(planted.exitCode).toBe(0);
      await observe(runtime, ACTIONS.browse.create({ url: 'http://localhost:1/' }));
      expect((await run(runtime, 'cat /workspace/printed')).output).toMatch(/No space left on device/);
    } finally {
      await sandboxes.close();
    }
  });
});
