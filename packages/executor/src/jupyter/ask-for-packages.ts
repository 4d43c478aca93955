import { request as httpRequest, type IncomingMessage } from 'node:http';
import { readLines } from '@tendon/protocol/node';
import { KERNEL_PACKAGES_NAME, type PackagesLine, sharedKind } from '@tendon/protocol/executor-api';

const DEADLINE_MS = 360_000;
const LIMITS = { maxLine: 100_000, maxTotal: 1_000_000 };

/** Asks the host to have packages for this kind of Python in the folder that all its sandboxes see. True when they are there. */
export async function askForPackages(
  proxySocketPath: string,
  tag: string,
  { signal, output }: { readonly signal: AbortSignal; readonly output: (text: string) => void },
): Promise<boolean> {
  if (sharedKind(tag) === undefined) return false;
  try {
    const response = await ask(proxySocketPath, tag, AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]));
    if (response.statusCode !== 200) return false;
    for await (const text of readLines(response, LIMITS)) {
      const line = JSON.parse(text) as PackagesLine;
      if ('output' in line) output(line.output);
      else return line.ready;
    }
  } catch {
    // no host that does it, or it went away: there is another way
  }
  return false;
}

function ask(socketPath: string, tag: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `http://${KERNEL_PACKAGES_NAME}/${tag}`;
    httpRequest({ socketPath, method: 'POST', path, headers: { host: KERNEL_PACKAGES_NAME }, signal }, resolve)
      .on('error', reject)
      .end();
  });
}
