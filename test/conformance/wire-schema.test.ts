import { openhandsV0 } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { swiftFile } from '../../packages/cli/src/schema/swift-types.ts';
import { wireSchema } from '../../packages/cli/src/schema/wire-schema.ts';
import { testServer } from '../../packages/server/src/server.test-support.ts';
import { EVERY_KIND } from './every-kind.ts';
import { fits } from './fits-schema.ts';
import { misfits, readSwift } from './swift-file.ts';

const SCHEMA = wireSchema();
const SWIFT = readSwift(swiftFile(SCHEMA));
const FRAMES = EVERY_KIND.flatMap((event) => openhandsV0.encode(event, 'live'));
const known = FRAMES.flatMap((frame) => {
  const type = SWIFT.kinds.get(frame.action === undefined ? `observation ${String(frame.observation)}` : `action ${String(frame.action)}`);
  return type ? [{ type, frame: JSON.parse(JSON.stringify(frame)) as unknown }] : [];
});

describe('tendon schema', () => {
  it('CK965: every reference leads to a definition, and every event of ours fits', () => {
    const references = [...JSON.stringify(SCHEMA).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map((match) => match[1]!);
    expect(references.filter((name) => !(name in SCHEMA.$defs))).toEqual([]);
    expect(FRAMES.filter((frame) => !fits({ ...SCHEMA }, frame, SCHEMA.$defs))).toEqual([]);
  });

  it('CK966: the Swift is well-formed as far as its text shows, and each name is declared once', () => {
    expect(SWIFT.problems).toEqual([]);
    expect(SWIFT.kinds.size).toBe(SCHEMA.anyOf.length - 1);
  });

  it('CK966: each event of ours has a field in its struct for each of its keys, of a type that takes it', () => {
    expect(known.length).toBeGreaterThan(80);
    expect(known.flatMap(({ type, frame }) => misfits(SWIFT, type, frame, type))).toEqual([]);
  });

  it('CK966: so do answers of the routes', async () => {
    const server = await testServer({ script: [] });
    const read = async (path: string) => (await (await server.get(path)).json()) as unknown;
    const answers = {
      OptionsConfig: '/api/options/config',
      OptionNames: '/api/options/models',
      BackendSettings: '/api/backend-settings',
      ModelList: '/api/models',
      TriggerList: '/api/triggers',
    };
    for (const [type, path] of Object.entries(answers)) {
      const answer = await read(path);
      expect(fits(SCHEMA.$defs[type]!, answer, SCHEMA.$defs), type).toBe(true);
      expect(misfits(SWIFT, type, answer, type)).toEqual([]);
    }
  });
});
