/** A step of `npm run test:cluster`: the programs of a control plane, built where they are not yet. */
import { buildPrograms } from './programs.ts';

try {
  await buildPrograms((text) => process.stdout.write(`${text}\n`));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
