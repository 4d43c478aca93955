/**
 * Events of seven releases of OpenDevin and OpenHands as they serialized them, in `../shared/spec/golden`: the SDK reads them, and they fit
 * what `tendon schema` prints. Run with `npm run test:shared`. No release is started here: it is the recorded wire.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isUnknown } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { readFrame } from '../../packages/client/src/connection/wire-frame.ts';
import { swiftFile } from '../../packages/cli/src/schema/swift-types.ts';
import { wireSchema } from '../../packages/cli/src/schema/wire-schema.ts';
import { fits } from '../conformance/fits-schema.ts';
import { misfits, readSwift } from '../conformance/swift-file.ts';

const golden = fileURLToPath(new URL('../../../shared/spec/golden/', import.meta.url));
const SCHEMA = wireSchema();
const SWIFT = readSwift(swiftFile(SCHEMA));

type Frame = Readonly<Record<string, unknown>>;

/** Every object of the file that is an event. */
function eventsIn(json: unknown): readonly Frame[] {
  if (typeof json !== 'object' || json === null) return [];
  const { action, observation } = json as Frame;
  if (typeof action === 'string' || typeof observation === 'string') return [json as Frame];
  return Object.values(json).flatMap(eventsIn);
}

/** The oldest releases had no ids and times. */
const withMeta = (frame: Frame): Frame => ({ id: 7, timestamp: '2025-11-11T12:00:00.123456', source: 'agent', ...frame });

/** Fields that no release has had since 0.16; a typed client does without them. */
const RETIRED = /\.(?:keep_prompt|is_confirmed|images_urls|interpreter_details|memories|role): no field of/;

/** Two kinds that no model calls any more had other arguments then. They are read as unknown, with everything that they have. */
const isOlderSpelling = ({ action, args }: Frame): boolean =>
  (action === 'modify_task' && 'task_id' in Object(args)) || (action === 'kill' && 'command_id' in Object(args));

describe('recorded events of other servers', () => {
  for (const file of readdirSync(golden)) {
    const frames = eventsIn(JSON.parse(readFileSync(join(golden, file), 'utf8'))).map(withMeta);
    const events = frames.filter((frame) => !isOlderSpelling(frame));
    const ours = events.flatMap((frame) => {
      const kind = SWIFT.kinds.get(
        frame.action === undefined ? `observation ${String(frame.observation)}` : `action ${String(frame.action)}`,
      );
      return kind ? [{ kind, frame }] : [];
    });

    it(`CK967: ${file}: the SDK reads each event, and knows those of the kinds that are served today`, () => {
      expect(events.length).toBeGreaterThan(20);
      expect(frames.map(readFrame).filter(({ type }) => type !== 'event')).toEqual([]);
      const read = ours.map(({ frame }) => readFrame(frame));
      expect(read.filter((one) => one.type !== 'event' || isUnknown(one.event))).toEqual([]);
    });

    it(`CK967: ${file}: each fits the JSON Schema, and the Swift type has a field for it`, () => {
      expect(events.filter((frame) => !fits({ ...SCHEMA }, frame, SCHEMA.$defs))).toEqual([]);
      expect(ours.flatMap(({ kind, frame }) => misfits(SWIFT, kind, frame, kind)).filter((problem) => !RETIRED.test(problem))).toEqual([]);
    });
  }
});
