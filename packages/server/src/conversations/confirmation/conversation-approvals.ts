/**
 * Owns what was chosen and saved for one conversation about which actions wait for a person, and changes it. An open
 * conversation holds the record with which it was opened; what was changed since is here.
 *
 * CA1  What the record says is durable before the log says it, and before anything runs by it.
 * CA2  A policy reaches the conversations that work for this one; their own rules stay theirs, and this one's hold in them.
 * CA3  A change that a kill cut off is marked in the record: the next start completes it, or the client that repeats it.
 * CA4  Changes of one conversation's policy are made one after the other, so its log ends with what holds.
 */
import { KeyedMutex, type ConfirmationSettings } from '@tendon/core';
import { SuccessObservation, type ConfirmationMode, type ConfirmationRule } from '@tendon/protocol';
import type { ConversationRecords, StoredConversation } from '../conversation-records.ts';
import type { OpenConversations } from '../open-conversations.ts';

type Policy = Pick<StoredConversation, 'confirmation_policy' | 'confirmation_mode' | 'confirmation_analyzer'>;
type Chosen = Policy & Pick<StoredConversation, 'confirmation_rules'>;

/** What is named changes; `null`: as for all conversations. */
export interface PolicyChange {
  readonly policy?: ConfirmationMode | null | undefined;
  readonly analyzer?: string | null | undefined;
}

/** What comes of a record and of the settings, as of now. */
export type PolicyOf = (record: StoredConversation) => Pick<ConfirmationSettings, 'mode' | 'analyzer'>;

export class ConversationApprovals {
  readonly #records: ConversationRecords;
  readonly #open: OpenConversations;
  readonly #policyOf: PolicyOf;
  readonly #chosen = new Map<string, Chosen>();
  readonly #choosing = new KeyedMutex();

  constructor(records: ConversationRecords, open: OpenConversations, policyOf: PolicyOf) {
    this.#records = records;
    this.#open = open;
    this.#policyOf = policyOf;
  }

  /** The record with what holds by now. */
  now(record: StoredConversation): StoredConversation {
    return { ...record, ...this.#chosen.get(record.id) };
  }

  /** What a person saved for this conversation, as of now. */
  rulesOf(record: StoredConversation): readonly ConfirmationRule[] {
    return this.now(record).confirmation_rules ?? [];
  }

  /** What was saved for the conversations whose work it does a part of: each call of the function gives it as of then. */
  async inheritedRules({ delegated_by: by }: StoredConversation): Promise<() => readonly ConfirmationRule[]> {
    const above = by && (await this.#records.get(by.conversation_id));
    if (!above) return () => [];
    const inherited = await this.inheritedRules(above);
    return () => [...this.rulesOf(above), ...inherited()];
  }

  /** From the next action on. `undefined`: no such conversation. */
  setRules(id: string, rules: readonly ConfirmationRule[]): Promise<StoredConversation | undefined> {
    return this.changeRules(id, () => rules);
  }

  /** As `setRules`, made from those that it has then; a change to `undefined` changes nothing. */
  changeRules(
    id: string,
    change: (rules: readonly ConfirmationRule[]) => readonly ConfirmationRule[] | undefined,
  ): Promise<StoredConversation | undefined> {
    return this.#change(id, ({ confirmation_rules = [] }) => {
      const rules = change(confirmation_rules);
      return rules && { confirmation_rules: rules };
    });
  }

  /** From the next action on; what waits and is allowed by now runs. `undefined`: no such conversation. */
  setPolicy(id: string, { policy, analyzer }: PolicyChange): Promise<StoredConversation | undefined> {
    return this.#choose(id, () => ({
      ...(policy !== undefined && { confirmation_policy: policy ?? undefined }),
      // The switch with which it was created was its own policy too.
      ...(policy === null && { confirmation_mode: undefined }),
      ...(analyzer !== undefined && { confirmation_analyzer: analyzer ?? undefined }),
    }));
  }

  /** Of a client that knows a switch alone, and that had it otherwise when the conversation was created. */
  async setSwitch(id: string, isOn: boolean): Promise<void> {
    await this.#choose(id, ({ confirmation_mode: before }) =>
      before === undefined || before === isOn ? undefined : { confirmation_mode: isOn, confirmation_policy: undefined },
    );
  }

  /** One that was made by a conversation whose policy changed while it was made. */
  async inherit(made: StoredConversation, before: StoredConversation, above: StoredConversation): Promise<void> {
    const theirs = policyIn(this.now(above));
    if (isOther(policyIn(before), theirs)) await this.#choose(made.id, () => theirs);
  }

  /** After a restart: a change that was cut off. */
  async complete({ id, policy_unreported: isCutOff }: StoredConversation): Promise<void> {
    if (isCutOff) await this.#choose(id, () => undefined);
  }

  /** Default: of all. Another server may have them, and change them. */
  forget(id?: string): void {
    if (id === undefined) this.#chosen.clear();
    else this.#chosen.delete(id);
  }

  #choose(id: string, choice: (record: StoredConversation) => Policy | undefined): Promise<StoredConversation | undefined> {
    return this.#choosing.run(id, async () => {
      const before = await this.#records.get(id);
      const change = before && choice(before);
      const isNew = change !== undefined && isOther(before!, change);
      if (!isNew && !before?.policy_unreported) return before;
      // What waits may run by it: a restart looks for it.
      await this.#records.mark(id);
      const record = await this.#change(id, () => ({ ...change, policy_unreported: true }));
      if (!record) return undefined;
      const theirs = policyIn(record);
      await this.#report(record);
      for (const delegated of await this.#records.delegatedBy(id)) await this.#choose(delegated, () => theirs);
      return await this.#change(id, () => ({ policy_unreported: undefined }));
    });
  }

  async #change(
    id: string,
    change: (record: StoredConversation) => Partial<StoredConversation> | undefined,
  ): Promise<StoredConversation | undefined> {
    const record = await this.#records.change(id, change);
    if (record) this.#chosen.set(id, { confirmation_rules: record.confirmation_rules ?? [], ...policyIn(record) });
    return record;
  }

  /** In its log, for people and for the model; what waits is judged again. */
  async #report(record: StoredConversation): Promise<void> {
    const { mode, analyzer } = this.#policyOf(record);
    const waits = mode === 'risk' ? `what is risky, by ${JUDGES[analyzer]}, waits for a person` : WAITS[mode];
    const success = SuccessObservation.create(`From here on ${waits}.`, { confirmation_policy: mode });
    for (let isReported = false; !isReported;) {
      const held = await this.#open.enter(record.id);
      if (!held) return;
      try {
        isReported = await held.open.conversation.judgeAgain({ source: 'environment', ...success });
      } finally {
        held.release();
      }
    }
  }
}

function policyIn({ confirmation_policy, confirmation_mode, confirmation_analyzer }: StoredConversation): Policy {
  return { confirmation_policy, confirmation_mode, confirmation_analyzer };
}

function isOther(before: Policy, change: Policy): boolean {
  return Object.entries(change).some(([name, value]) => before[name as keyof Policy] !== value);
}

const WAITS: Readonly<Record<Exclude<ConfirmationMode, 'risk'>, string>> = {
  always: 'every action that may do harm waits for a person',
  rules: 'what no rule allows waits for a person',
  never: 'only what a rule asks about waits for a person',
};

const JUDGES: Readonly<Record<ConfirmationSettings['analyzer'], string>> = {
  rules: 'the rules of the server',
  llm: 'the word of the agent’s model',
  model: 'the word of the small model',
  invariant: 'the policy of Invariant',
};
