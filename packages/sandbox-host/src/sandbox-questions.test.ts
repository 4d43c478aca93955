import type { HostQuestion } from '@tendon/runtime';
import { describe, expect, it } from 'vitest';
import { SandboxQuestions } from './sandbox-questions.ts';

const PLACE = { host: 'asked.example', port: 443 };

/** A server's watch, with what it was sent. */
function serverOf(questions: SandboxQuestions, incarnation: string) {
  const sent: HostQuestion[] = [];
  const stop = questions.watch(incarnation, { onQuestion: (question) => sent.push(question) });
  return { sent, stop };
}

describe('SB725: a question of a sandbox to the person with its server', () => {
  it('waits once for all connections to a place, and is answered once, by the server of that sandbox', async () => {
    const questions = new SandboxQuestions();
    const [own, other] = [serverOf(questions, 'a'), serverOf(questions, 'b')];
    const answers = [questions.ask('a', PLACE), questions.ask('a', PLACE)];
    expect(own.sent).toEqual([{ ...PLACE, id: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
    expect(other.sent).toEqual([]);
    const { id } = own.sent[0]!;
    expect(questions.answer('b', id, undefined)).toBe(false);
    expect(questions.answer('a', '0'.repeat(32), undefined)).toBe(false);
    expect(questions.answer('a', id, 'a person refused it')).toBe(true);
    expect(await Promise.all(answers)).toEqual(['a person refused it', 'a person refused it']);
    expect(questions.answer('a', id, undefined)).toBe(false);
    void questions.ask('a', PLACE);
    expect(own.sent[1]?.id).not.toBe(id);
  });

  it('is sent to a server that comes later or comes again, and once more when it is asked for', async () => {
    const questions = new SandboxQuestions();
    const answer = questions.ask('a', PLACE);
    const first = serverOf(questions, 'a');
    first.stop();
    const second = serverOf(questions, 'a');
    expect(second.sent).toEqual(first.sent);
    const repeated: HostQuestion[] = [];
    questions.repeat('a', { onQuestion: (question) => repeated.push(question) });
    expect(repeated).toEqual(first.sent);
    questions.answer('a', first.sent[0]!.id, undefined);
    expect(await answer).toBeUndefined();
    questions.repeat('a', { onQuestion: (question) => repeated.push(question) });
    expect(repeated).toHaveLength(1);
  });

  it('is the policy’s to decide after a while without a server, and at once with one that takes no questions', async () => {
    const questions = new SandboxQuestions({ absentMs: 1 });
    expect(await questions.ask('a', PLACE)).toBeUndefined();
    const { stop } = serverOf(questions, 'a');
    const left = questions.ask('a', PLACE);
    stop();
    expect(await left).toBeUndefined();
    const patient = new SandboxQuestions({ absentMs: 3_600_000 });
    const waiting = patient.ask('a', PLACE);
    patient.watch('a', { onQuestion: undefined });
    expect(await waiting).toBeUndefined();
    expect(await patient.ask('a', PLACE)).toBeUndefined();
  });

  it('does not pile up', async () => {
    const questions = new SandboxQuestions();
    const { sent } = serverOf(questions, 'a');
    for (let port = 1; port <= 32; port += 1) void questions.ask('a', { ...PLACE, port });
    expect(await questions.ask('a', PLACE)).toBeUndefined();
    expect(sent).toHaveLength(32);
    void questions.ask('b', PLACE);
    questions.answer('a', sent[0]!.id, undefined);
    void questions.ask('a', PLACE);
    expect(sent).toHaveLength(33);
  });

  it('comes sixty times a minute at most, however soon it is answered', async () => {
    let now = 0;
    const questions = new SandboxQuestions({ now: () => now });
    const { sent } = serverOf(questions, 'a');
    for (let tried = 0; tried < 100; tried += 1) {
      const answer = questions.ask('a', PLACE);
      for (const { id } of sent) questions.answer('a', id, 'refused');
      expect(await answer).toBe(tried < 60 ? 'refused' : undefined);
    }
    expect(sent).toHaveLength(60);
    now = 60_000;
    void questions.ask('a', PLACE);
    expect(sent).toHaveLength(61);
  });
});
