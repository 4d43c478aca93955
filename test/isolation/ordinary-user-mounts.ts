/**
 * Run as somebody who is not root: how what is protected is mounted by descriptors, where that is not possible (a perl that does not
 * work), and where nothing is protected; as JSON. `node … <folder> <starts>`
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestSandboxes, never, run } from '@tendon/runtime/testing';
import { openDriver } from '../faults/sandbox-drivers.ts';
import { layProject, NAMES, swapBelowOldRoot } from './protected-paths.ts';

const [folder = '', starts = ''] = process.argv.slice(2);
const { PATH = '' } = process.env;
const project = layProject(folder);
const bwrapLog = join(folder, 'bwrap-log');

/** Before the programs of this machine: each of these prints its arguments, one a line, and then does what `script` says. */
function install(name: string, program: string, script: string): string {
  const bin = join(folder, name);
  mkdirSync(bin);
  writeFileSync(join(bin, program), `#!/bin/sh\nprintf '%s\\n' "$@" > ${bwrapLog}\n${script}\n`);
  chmodSync(join(bin, program), 0o755);
  return bin;
}

const logging = install('logging', 'bwrap', `PATH=${PATH} exec bwrap "$@"`);
const withoutPerl = install('without-perl', 'perl', 'echo no perl here >&2; exit 1');

async function started(path: string, names: readonly string[]): Promise<object> {
  process.env.PATH = path;
  const driver = openDriver('local', names);
  const probe = await driver.probe();
  const own = join(folder, `sandboxes-${path.length}-${names.length}`);
  mkdirSync(own);
  const sandboxes = createTestSandboxes(driver, { folder: own, workspaceOf: async () => ({ hostPath: project.folder }) });
  try {
    const runtime = await sandboxes.runtimes.acquire('c', { signal: never });
    const given = readFileSync(bwrapLog, 'utf8').split('\n');
    const { output } = await run(runtime, 'echo x > .vscode/new && echo LEFT; echo x > .idea/new && echo LEFT');
    return {
      description: probe.available && probe.description,
      given: given.filter((text) => text.startsWith(`${project.folder}/`) || text.startsWith('/workspace/')),
      left: output.match(/LEFT/g)?.length ?? 0,
      status: (await run(runtime, 'grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/self/status; cat /proc/self/[ug]id_map'))
        .output,
    };
  } finally {
    await sandboxes.close();
  }
}

const byDescriptor = await started(`${logging}:${PATH}`, NAMES);
const byName = await started(`${withoutPerl}:${logging}:${PATH}`, NAMES);
const unprotected = await started(`${logging}:${PATH}`, []);
process.env.PATH = PATH;
const swapped = await swapBelowOldRoot(openDriver('local', NAMES), { base: join(folder, 'base') }, Number(starts));
process.stdout.write(JSON.stringify({ byDescriptor, byName, unprotected, swapped }));
