/** Run as somebody who is not root: workspaces are swapped while sandboxes start; what came of it as JSON. `node … <folder> <driver> <starts>` */
import { join } from 'node:path';
import { openDriver } from '../faults/sandbox-drivers.ts';
import { swapInBetween, swapWorkspaces } from './swap-workspaces.ts';

const [folder = '', driver = 'local', starts = ''] = process.argv.slice(2);
const between = await swapInBetween(openDriver(driver), { base: join(folder, 'between'), folder });
const swapped = await swapWorkspaces(openDriver(driver), { base: join(folder, 'base'), folder }, Number(starts));
process.stdout.write(JSON.stringify({ between, swapped }));
