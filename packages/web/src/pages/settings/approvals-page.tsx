import { tendon } from '../../lib/server.ts';
import { RuleList } from '../rule-list.tsx';
import { AskingSection } from './asking-section.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t } from '../../lib/language/text.ts';

/** Which actions need approval, and the saved rules. */
export function ApprovalsPage() {
  return (
    <>
      <AskingSection />
      <section className="setting" aria-labelledby="rules-heading">
        <SectionHeading id="rules-heading" title={t('Rules')} />
        <p className="text-ink-2">
          {t(
            'They decide what agents run without asking you, in all conversations. A rule that you revoke counts no more from the next action on.',
          )}
        </p>
        <RuleList
          queryKey={['rules']}
          list={tendon.rules.list}
          remove={tendon.rules.remove}
          none={t('No rule is saved: what asks is decided by the mode alone.')}
        />
      </section>
    </>
  );
}
