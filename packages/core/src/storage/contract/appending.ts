import { draftFromJson, RunObservation, toJson } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { AppendConflict, type EventLog, type SourcedDraft } from '../../log/event-log.ts';
import type { ManualClock } from './manual-clock.ts';
import { contentOf, message } from './message.ts';

export function appending(log: () => EventLog, clock: ManualClock): void {
  it('EL1: ids count from 0 without a gap, over single and several drafts', async () => {
    const first = await log().append([message('a')], { expectedId: 0 });
    const more = await log().append([message('b'), message('c')], { expectedId: 1 });
    expect([...first, ...more].map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(log().nextId).toBe(3);
  });

  it('EL3: an append without drafts changes nothing', async () => {
    expect(await log().append([], { expectedId: 0 })).toEqual([]);
    expect(log().nextId).toBe(0);
  });

  it('EL5: timestamps are UTC with Z and do not go back with the clock', async () => {
    clock.set('2026-11-21T10:00:00.000Z');
    await log().append([message('a')], { expectedId: 0 });
    clock.set('2026-11-21T09:30:00.000Z');
    await log().append([message('b')], { expectedId: 1 });
    clock.set('2026-11-21T10:00:01.000Z');
    await log().append([message('c')], { expectedId: 2 });
    const at = (await log().read()).map(({ timestamp }) => timestamp);
    expect(at).toEqual(['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00.000Z', '2026-11-21T10:00:01.000Z']);
  });

  it('EL25: an import says when each event happened, and time does not go back', async () => {
    const given = ['2024-12-01T10:00:00.000Z', '2024-12-01T09:00:00.000Z', '2024-12-01T11:00:00.000Z'];
    await log().append([message('a'), message('b'), message('c')], { expectedId: 0, timestamps: given });
    clock.set('2026-11-21T12:00:00.000Z');
    await log().append([message('d')], { expectedId: 3 });
    const at = (await log().read()).map(({ timestamp }) => timestamp);
    expect(at).toEqual([given[0], given[0], given[2], '2026-11-21T12:00:00.000Z']);
  });

  it('EL5: a draft that brings meta fields of its own does not get them', async () => {
    const forged = {
      ...draftFromJson({ action: 'message', args: { content: 'x' }, id: 99, timestamp: '1970' }),
      source: 'user',
    } as SourcedDraft;
    const [event] = await log().append([forged], { expectedId: 0 });
    expect(event).toMatchObject({ id: 0, source: 'user' });
    expect(event!.timestamp).toMatch(/^2026-/);
  });

  it('EL6: events are frozen to the ground', async () => {
    const [event] = await log().append([{ ...RunObservation.create('out', { command: 'ls' }), source: 'agent' }], { expectedId: 0 });
    const [read] = await log().read();
    for (const each of [event, read] as { extras: { metadata: object } }[]) {
      for (const part of [each, each.extras, each.extras.metadata]) expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('EL6: what is not JSON is refused and nothing is appended', async () => {
    const deep = JSON.parse('['.repeat(1000) + ']'.repeat(1000)) as unknown;
    for (const wrong of [new Date(), 10n, () => 1, Number.NaN, new Uint8Array(2), deep]) {
      const draft = { unknown: true, raw: { wrong }, source: 'user' } as unknown as SourcedDraft;
      await expect(log().append([message('good'), draft], { expectedId: 0 })).rejects.toThrow(TypeError);
    }
    expect(await log().read()).toEqual([]);
  });

  it('EL7, EL8: unknown kinds keep every key in order, hostile ones too', async () => {
    const text =
      '{"observation":"from_the_future","10":1,"2":2,"__proto__":{"x":1},"constructor":[],"unknown":true,"raw":null,"cause":0,"\\ud800":"\\udfff"}';
    const [event] = await log().append([{ ...draftFromJson(JSON.parse(text)), source: 'agent' }], { expectedId: 0 });
    const [read] = await log().read();
    const { id: _, timestamp: __, source: ___, ...raw } = toJson(read!);
    expect(JSON.stringify(raw)).toBe(JSON.stringify(JSON.parse(text)));
    expect(JSON.stringify(read)).toBe(JSON.stringify(event));
  });

  it('EL7: what the engine sets beside an unknown kind is stored with it', async () => {
    const draft: SourcedDraft = { unknown: true, raw: { observation: 'x' }, cause: 3, source: 'agent' };
    const [event] = await log().append([draft], { expectedId: 0 });
    expect(event).toMatchObject({ cause: 3, raw: { observation: 'x', cause: 3 } });
    expect(await log().read()).toEqual([event]);
  });

  it('EL8: a payload of a megabyte comes back as it was', async () => {
    const content = 'é\u2028"'.repeat(300_000);
    const written = await log().append([{ ...RunObservation.create(content, { command: 'cat' }), source: 'agent' }], { expectedId: 0 });
    expect(JSON.stringify(await log().read())).toBe(JSON.stringify(written));
  });
}

/** Several writers at one log. */
export function conflicts(log: () => EventLog): void {
  it('EL2: an append behind the log is refused with both ids, and so is one before it', async () => {
    await log().append([message('a')], { expectedId: 0 });
    for (const expectedId of [0, 2]) {
      const refused = await log()
        .append([message('b')], { expectedId })
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(AppendConflict);
      expect(refused).toMatchObject({ expectedId, nextId: 1 });
    }
    expect(log().nextId).toBe(1);
  });

  it('EL2: of many appends for one place exactly one wins, and the losers find its event', async () => {
    const appends = Array.from({ length: 20 }, (_, index) => log().append([message(String(index))], { expectedId: 0 }));
    // A loser is answered only when the winner's event can be read.
    const found = appends.map((append) =>
      append.then(
        () => 'won',
        async () => (await log().read()).length,
      ),
    );
    const outcomes = await Promise.allSettled(appends);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const losses = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as AppendConflict);
    expect(losses.every((loss) => loss instanceof AppendConflict && loss.nextId === 1)).toBe(true);
    expect((await Promise.all(found)).filter((events) => events !== 'won')).toEqual(Array(19).fill(1));
  });

  it('EL1, EL2: writers that try again leave no gap and lose nothing', async () => {
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; n < 10;) {
        try {
          await log().append([message(`${writer}:${n}`)], { expectedId: log().nextId });
          n += 1;
        } catch (error) {
          if (!(error instanceof AppendConflict)) throw error;
        }
      }
    };
    await Promise.all([0, 1, 2, 3].map(write));
    const events = await log().read();
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, id) => id));
    expect(new Set(events.map(contentOf)).size).toBe(40);
  });
}
