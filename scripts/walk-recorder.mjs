// Preloaded into a server that runs from source: records which of our files run, in order, while its parent asks for it.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = [];
let path;
let isPeriodic = false;

globalThis.walkedInto = (index) => {
  if (path && !isPeriodic && path.at(-1) !== index) path.push(index);
};

/** What runs every so often has nothing to do with the message. */
const { setInterval: plain } = globalThis;
globalThis.setInterval = (run, ...rest) =>
  plain(
    (...given) => {
      isPeriodic = true;
      try {
        return run(...given);
      } finally {
        isPeriodic = false;
      }
    },
    ...rest,
  );

registerHooks({
  load(url, context, next) {
    if (!/\/packages\/[^/]+\/src\/.*\.ts$/.test(url)) return next(url, context);
    const file = fileURLToPath(url);
    return { format: 'module-typescript', source: instrumented(file, readFileSync(file, 'utf8')), shortCircuit: true };
  },
});

process.on('message', (order) => {
  if (order === 'start') path = [];
  else process.send(path.map((index) => files[index]));
});

/** The source with a call of `walkedInto` at the beginning of every function. */
function instrumented(file, text) {
  const call = `walkedInto(${files.push(relative(root, file)) - 1})`;
  const inserts = [];
  visit(parseAst(text, { lang: 'ts' }), ({ type, body }) => {
    if (!/^(?:Arrow)?Function/.test(type) || !body) return;
    if (body.type === 'BlockStatement') inserts.push([body.start + 1, `${call};`]);
    else inserts.push([body.start, `(${call}, (`], [body.end, '))']);
  });
  return inserts.toSorted(([a], [b]) => b - a).reduce((source, [at, inserted]) => source.slice(0, at) + inserted + source.slice(at), text);
}

function visit(node, enter) {
  if (Array.isArray(node)) return node.forEach((each) => visit(each, enter));
  if (typeof node?.type !== 'string') return;
  enter(node);
  for (const child of Object.values(node)) if (typeof child === 'object') visit(child, enter);
}
