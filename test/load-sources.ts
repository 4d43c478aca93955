import { readFileSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';

/** What Vitest adds to the path of a test file, so that a file is loaded once more when it has changed: it has not in a single run. */
const ASKED_BY_VITEST = /[?]vitest=\d+$/;
/** What the first module of an app has after its path in tests of the whole app: all others of that app get it too, see `appOnFixture`. */
const APP = /[?]app=\d+$/;
const OF_THE_APP = /\/packages\/web\/src\/[^?]*$/;

/** Of React DOM, which is Preact here; `react` and `react-dom` themselves are, by the lockfile. */
const TEST_UTILS = { asked: 'react-dom/test-utils', ours: 'preact/test-utils' };

const isSingleRun = process.env.VITEST_MODE !== 'WATCH';

/**
 * Preloaded by the workers of the tests. Node loads the sources itself, as it does in development, and strips types of `.ts`: asking Vite
 * for each module costs a third more. Node knows neither JSX nor style sheets, and takes JSON only from imports that say so. What one worker has compiled
 * the next one reads.
 */
enableCompileCache();
registerHooks({
  resolve(specifier, context, next) {
    const asked = specifier === TEST_UTILS.asked ? TEST_UTILS.ours : specifier;
    const resolved = next(isSingleRun ? asked.replace(ASKED_BY_VITEST, '') : asked, context);
    const [app] = context.parentURL?.match(APP) ?? [];
    return app && OF_THE_APP.test(resolved.url) ? { ...resolved, url: resolved.url + app } : resolved;
  },
  load(url, context, next) {
    const { pathname } = new URL(url);
    // A DOM without layout has no use for styles.
    if (pathname.endsWith('.css')) return { format: 'module', source: '', shortCircuit: true };
    if (pathname.endsWith('.json')) return next(url, { ...context, importAttributes: { type: 'json' } });
    return pathname.endsWith('.tsx') ? { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true } : next(url, context);
  },
});

function compile(path: string): string {
  const jsx = { runtime: 'automatic', development: true } as const;
  const { code, map, errors } = transformSync(path, readFileSync(path, 'utf8'), { jsx, sourcemap: true });
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0]?.message}`);
  const inline = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}`;
}
