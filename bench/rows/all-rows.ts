import type { Row } from '../row.ts';
import { acknowledgements } from './acknowledgements.ts';
import { dockerStart, podmanStart, localStart, serverStart, firstList, createConversation } from './starts.ts';
import { checkpoint } from './checkpoint.ts';
import { delivery } from './delivery.ts';
import { diskSync, firstRequest, step } from './step.ts';
import { edit } from './edit.ts';
import { firstCell, otherCell } from './cells.ts';
import { history } from './history.ts';
import { idleConversations, idleMemory, sandboxMemory } from './memory.ts';
import { longLog } from './long-log.ts';
import { longNoise, longText, outputMemory } from './long-output.ts';
import { longStream } from './long-stream.ts';
import { oneShot } from './one-shot.ts';
import { request } from './request.ts';
import { restart } from './restart.ts';

/** In the order of the table, which is the order of measuring. A new figure is a file here and its line. */
export const ALL_ROWS: readonly Row[] = [
  serverStart,
  firstList,
  idleMemory,
  createConversation,
  sandboxMemory,
  localStart,
  dockerStart,
  podmanStart,
  longText,
  longNoise,
  outputMemory,
  step,
  diskSync,
  edit,
  request,
  checkpoint,
  firstCell,
  otherCell,
  history,
  oneShot,
  firstRequest,
  idleConversations,
  delivery,
  longStream,
  longLog,
  acknowledgements,
  restart,
];
