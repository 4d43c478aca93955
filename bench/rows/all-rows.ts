import type { Row } from '../row.ts';
import { acknowledgements } from './acknowledgements.ts';
import { dockerStart, podmanStart } from './container-start.ts';
import { createConversation } from './create-conversation.ts';
import { delivery } from './delivery.ts';
import { diskSync } from './disk-sync.ts';
import { edit } from './edit.ts';
import { firstCell } from './first-cell.ts';
import { firstRequest } from './first-request.ts';
import { history } from './history.ts';
import { idleConversations } from './idle-conversations.ts';
import { idleMemory } from './idle-memory.ts';
import { localStart } from './local-start.ts';
import { longLog } from './long-log.ts';
import { longNoise, longText, outputMemory } from './long-output.ts';
import { longStream } from './long-stream.ts';
import { oneShot } from './one-shot.ts';
import { otherCell } from './other-cell.ts';
import { restart } from './restart.ts';
import { sandboxMemory } from './sandbox-memory.ts';
import { serverStart } from './server-start.ts';
import { step } from './step.ts';

/** In the order of the table, which is the order of measuring. A new figure is a file here and its line. */
export const ALL_ROWS: readonly Row[] = [
  serverStart,
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
