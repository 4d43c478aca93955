/** The entry of `tendon`: nothing but the compile cache is touched before the command line is read. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { runProgram } = await import('./program.ts');
process.exit(await runProgram(process.argv.slice(2)));
