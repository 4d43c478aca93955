import { useMutation, useQuery } from '@tanstack/react-query';
import { tendon } from '../lib/server.ts';
import { hasSignedIn, whoAmIQuery } from '../lib/who-am-i.ts';
import { t } from '../lib/language/text.ts';

/** Who is signed in, and in which organisation; nothing where the server has no users. */
export function WhoAmI() {
  const { data: me } = useQuery({ ...whoAmIQuery, enabled: hasSignedIn() });
  // What is drawn is the other organisation's.
  const choose = useMutation({ mutationFn: tendon.users.chooseOrganisation, onSuccess: () => location.reload() });
  if (!me?.user || !me.organisation) return null;
  const { user, organisation, organisations } = me;
  return (
    <span className="only-wide flex items-center gap-1.5 text-small text-ink-2">
      {user.name}
      {organisations.length === 1 ? (
        <span className="text-ink-3">{organisation.name}</span>
      ) : (
        <select
          className="field"
          aria-label={t('Organisation')}
          value={organisation.id}
          disabled={choose.isPending}
          onChange={(event) => choose.mutate(event.target.value)}
        >
          {organisations.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </span>
  );
}
