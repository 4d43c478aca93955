import { RecallAction, type ActionDraft } from '@tendon/protocol';
import { searchMessages } from '../../knowledge/search-messages.ts';
import type { SourcedDraft } from '../../log/event-log.ts';
import { recall } from '../../engine/answer-core.ts';
import type { Engine } from '../../engine/engine.ts';
import { answerTo } from '../../engine/notices.ts';
import type { Decide } from '../../engine/folded-log.ts';

/** A person's own question to the memory and its answer, as one commit: it neither wakes the agent nor waits for it. */
export async function userRecall(engine: Engine, { args }: ActionDraft<'recall'>): Promise<Decide> {
  const hits = await searchMessages(engine.log, args.query);
  const known = await engine.library.load();
  return ({ conversation: { nextId }, told, missed }): readonly SourcedDraft[] => {
    const found = recall(args, { now: engine.clock.now(), known, told, missed, hits });
    return [
      { source: 'user', ...RecallAction.create(args) },
      { ...answerTo({ id: nextId, source: 'environment' }, found), source: 'environment' },
    ];
  };
}
