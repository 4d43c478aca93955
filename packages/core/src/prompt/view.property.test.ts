import { isAction } from '@tendon/protocol';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { ALWAYS_WHOLE_CHARS } from './excerpt.ts';
import { legalityProblems } from './legal-request.test-support.ts';
import { projectMessages } from './project-messages.test-support.ts';
import { implausibleLog, olderLog, plausibleLog, withReferences } from './random-log.test-support.ts';
import { View } from './view.ts';
import { filled, idsOf } from './view-outline.ts';

const anyLog = fc.oneof(plausibleLog, implausibleLog);

it('EN30: every prefix of every log gives a request that every provider takes', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      for (let n = 0; n <= log.length; n++) expect(legalityProblems(projectMessages(log.slice(0, n), codeActAgent))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

it('EN31: what is settled stays as it is, whatever is appended but a condensation', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const view = new View(codeActAgent);
      let before = view.project();
      for (const event of log) {
        view.add(event);
        const after = view.project();
        const condensed = isAction(event) && event.action === 'condensation';
        const stays = condensed ? 0 : before.settled;
        expect(after.messages.slice(0, stays)).toEqual(before.messages.slice(0, stays));
        before = after;
      }
    }),
    { numRuns: 300 },
  );
});

it('EN32: every word of the user is in the request', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const texts = projectMessages(log, codeActAgent).flatMap((message) => (message.role === 'user' ? [message.text] : []));
      const condensed = log.findLastIndex((event) => isAction(event) && event.action === 'condensation');
      const missing = log.filter((event) => {
        if (!isAction(event) || event.source !== 'user' || event.action !== 'message' || event.args.content === '') return false;
        const { content } = event.args;
        // EN207: of a long one an excerpt is left.
        const isExcerpt = event.id < condensed && content.length > ALWAYS_WHOLE_CHARS;
        return !texts.some((text) => (isExcerpt ? text.startsWith(content.slice(0, 1000)) : text === content));
      });
      expect(missing).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

it('EN205: a log that holds an answer once gives the request of one that holds it on every event', () => {
  fc.assert(
    fc.property(olderLog, (log) => {
      // Several answers of one id are one answer to `withReferences`.
      fc.pre(!log.some((event) => !('unknown' in event) && event.tool_call_metadata?.model_response.id === 'same'));
      const today = withReferences(log);
      for (let n = 0; n <= log.length; n++)
        expect(projectMessages(today.slice(0, n), codeActAgent)).toEqual(projectMessages(log.slice(0, n), codeActAgent));
    }),
    { numRuns: 300 },
  );
});

it('EN33: events added one by one and all at once give the same request', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const view = new View(codeActAgent);
      for (const event of log) {
        view.add(event);
        view.project();
      }
      expect(view.project().messages).toEqual(projectMessages(log, codeActAgent));
    }),
    { numRuns: 100 },
  );
});

it('EN745: on every prefix a view that has shown earlier ones shows what a new one does', () => {
  const limits = fc.constantFrom(ALWAYS_WHOLE_CHARS, 100_000);
  fc.assert(
    fc.property(anyLog, fc.array(limits, { minLength: 1, maxLength: 4 }), (log, maxima) => {
      const view = new View(codeActAgent);
      for (const [n, event] of log.entries()) {
        const options = { maxMessageChars: maxima[n % maxima.length]! };
        view.add(event);
        const fresh = new View(codeActAgent);
        for (const earlier of log.slice(0, n + 1)) fresh.add(earlier);
        expect(view.project(options)).toEqual(fresh.project(options));
      }
    }),
    { numRuns: 100 },
  );
});

it('EN199: made again from its outline and the events after it, a view shows the same then and from then on', () => {
  fc.assert(
    fc.property(anyLog, fc.nat(40), (log, at) => {
      const view = new View(codeActAgent);
      for (const event of log.slice(0, at)) view.add(event);
      const { outline } = view;
      const again = new View(codeActAgent, filled(outline, new Map(idsOf(outline).map((id) => [id, log[id]!]))));
      for (const event of log.slice(outline.nextId, at)) again.add(event);
      expect(again.project()).toEqual(view.project());
      for (const event of log.slice(at)) {
        view.add(event);
        again.add(event);
      }
      expect(again.project()).toEqual(view.project());
      expect(again.outline).toEqual(view.outline);
    }),
    { numRuns: 500 },
  );
});
