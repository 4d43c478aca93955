/** The entry of `tendon`: nothing but how modules are loaded is touched before the command line is read. */
import { enableCompileCache, registerHooks } from 'node:module';

enableCompileCache();
/** The files of a bundle lie beside each other: looking for each takes Node 5 to 10 ms of a start. Sources are `.ts`. */
const here = new URL('.', import.meta.url).href;
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('./') || !specifier.endsWith('.js') || !context.parentURL?.startsWith(here)) return next(specifier, context);
    return { url: here + specifier.slice('./'.length), format: 'module', shortCircuit: true };
  },
});
const { runProgram } = await import('./program.ts');
process.exit(await runProgram(process.argv.slice(2)));
