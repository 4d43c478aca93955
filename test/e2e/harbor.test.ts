import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { someOf } from '@tendon/testing';
import { builtTendon } from '@tendon/testing/servers';

const ADAPTER = join(import.meta.dirname, '../../examples/harbor');

/** What the adapter uses of Harbor, by its documentation: commands run here instead of in a container. */
const HARBOR = `
import os, shutil, subprocess

def with_prompt_template(run):
    return run

class Environment:
    def __init__(self, root):
        self.root = root

    async def exec(self, command, env=None):
        place = {"/logs/agent": f"{self.root}/logs", "/installed-agent": f"{self.root}/installed"}
        for there, here in place.items():
            command = command.replace(there, here)
        return subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=f"{self.root}/work", env={**os.environ, **(env or {})})

    async def upload_file(self, source, target):
        shutil.copy(source, target.replace("/installed-agent", f"{self.root}/installed"))

class BaseInstalledAgent:
    def __init__(self, logs_dir, model_name=None):
        self.logs_dir, self.model_name = logs_dir, model_name

    async def exec_as_agent(self, environment, command, env=None):
        done = await environment.exec(command, env)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {command}")

    exec_as_root = exec_as_agent
`;

const MAIN = `
import asyncio, json, sys, types
root, model, task = sys.argv[1:]
from harbor.agents.installed.base import Environment
from tendon_agent import TendonAgent
agent = TendonAgent(logs_dir=f"{root}/logs", model_name=model)
environment = Environment(root)
async def main():
    await agent.install(environment)
    await agent.run(task, environment, None)
asyncio.run(main())
context = types.SimpleNamespace()
agent.populate_context_post_run(context)
print(json.dumps([agent.name(), agent.SUPPORTS_ATIF, vars(context)]))
`;

it.each(
  someOf(
    [
      ['solves it', 0.5, { toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo "it\'s 42" > answer' } }], costUsd: 0.5 }],
      ['fails', 0, { failure: 'LLM_AUTHENTICATION' }],
    ] as const,
    1,
  ),
)('EV922: Harbor runs Tendon in a container and reads its trajectory when the agent %s', async (_case, usd, step) => {
  const root = mkdtempSync(join(tmpdir(), 'tendon-harbor-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const folder of ['work', 'installed', 'logs', 'user']) mkdirSync(join(root, folder));
  for (const folder of ['harbor', 'harbor/agents', 'harbor/agents/installed']) write(`lib/${folder}/__init__.py`, '');
  write('lib/harbor/agents/installed/base.py', HARBOR);
  write('main.py', MAIN);
  write('script.json', JSON.stringify([step, { text: 'Done.' }]));
  write('bin/tendon', `#!/bin/bash\nexec '${process.execPath}' '${builtTendon()}' "$@"\n`);
  chmodSync(join(root, 'bin/tendon'), 0o755);
  const env = {
    PATH: [join(root, 'bin'), process.env.PATH].join(delimiter),
    HOME: join(root, 'user'),
    PYTHONPATH: [join(root, 'lib'), ADAPTER].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const args = [join(root, 'main.py'), root, `scripted/${join(root, 'script.json')}`, 'Say what it\'s about: $(42) `42` "now"\nand end.'];
  const { stdout } = await promisify(execFile)('python3', args, { env });
  expect(JSON.parse(stdout)).toEqual([
    'tendon',
    true,
    { cost_usd: usd, n_input_tokens: expect.any(Number), n_output_tokens: expect.any(Number), n_cache_tokens: 0 },
  ]);
  const trajectory = JSON.parse(readFileSync(join(root, 'logs/trajectory.json'), 'utf8')) as {
    steps: { source: string; message: string }[];
  };
  expect(trajectory.steps.find(({ source }) => source === 'user')!.message).toBe(args[3]);
  if (usd > 0) readFileSync(join(root, 'work/answer'));
});
