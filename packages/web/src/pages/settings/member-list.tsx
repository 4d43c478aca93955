import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OrganisationRole, UpdateUser, UserInfo } from '@tendon/protocol';
import { ago } from '../../copy/figures.ts';
import { tendon } from '../../lib/server.ts';
import { whoAmIQuery } from '../../lib/who-am-i.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const queryKey = ['users'];

const ROLES: Readonly<Record<OrganisationRole, PlainText>> = {
  viewer: textKey('watches'),
  member: textKey('works with agents'),
  admin: textKey('administers the organisation'),
  owner: textKey('owns the organisation'),
};

/** The users, their roles, and buttons to disable them. */
export function MemberList() {
  const queries = useQueryClient();
  const { data: me } = useQuery(whoAmIQuery);
  const list = useQuery({ queryKey, queryFn: tendon.users.list, retry: false, select: ({ users }) => users });
  const byGroup = useQuery({ queryKey, queryFn: tendon.users.list, retry: false, select: (found) => found.roles_by_group }).data;
  const change = useMutation({
    mutationFn: ({ id, ...body }: UpdateUser & { readonly id: string }) => tendon.users.update(id, body),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <ListSection
      title={t('Members')}
      about={t('A member who is disabled is out at once, with their sessions and keys.')}
      list={list}
      none={t('Nobody has signed in yet.')}
      problem={change.error}
      after={byGroup && <p className="text-ink-2">{t('Groups of the identity provider give the roles, at each login.')}</p>}
    >
      {(user) => (
        <Member
          key={user.id}
          user={user}
          isMe={user.id === me?.user?.id}
          hasRole={byGroup === false}
          onChange={(body) => change.mutate({ id: user.id, ...body })}
        />
      )}
    </ListSection>
  );
}

interface MemberProps {
  readonly user: UserInfo;
  readonly isMe: boolean;
  /** Whether the role can be given here. */
  readonly hasRole: boolean;
  readonly onChange: (body: UpdateUser) => void;
}

function Member({ user: { name, email, disabled, organisations, last_login_at: at }, isMe, hasRole, onChange }: MemberProps) {
  return (
    <li>
      <span className="truncate">{name}</span>
      <span className="text-small text-ink-3">
        {[email, disabled ? t('disabled') : t('signed in {{time}}', { time: ago(at, Date.now()) })].filter(Boolean).join(', ')}
      </span>
      <span className="flex-1" />
      {organisations.map(({ id, name: organisation, role }) =>
        hasRole ? (
          <select
            key={id}
            className="field"
            aria-label={t('What {{name}} may do in {{organisation}}', { name, organisation })}
            value={role}
            onChange={(event) => onChange({ role: event.target.value as OrganisationRole, organisation_id: id })}
          >
            {Object.entries(ROLES).map(([value, words]) => (
              <option key={value} value={value}>
                {t(words)}
              </option>
            ))}
          </select>
        ) : (
          <span key={id} className="text-small text-ink-2">
            {`${organisation}: ${t(ROLES[role])}`}
          </span>
        ),
      )}
      {!isMe && (
        <Button
          small
          look="line"
          aria-label={disabled ? t('Enable {{name}}', { name }) : t('Disable {{name}}', { name })}
          onClick={() => onChange({ disabled: !disabled })}
        >
          {disabled ? t('Enable') : t('Disable')}
        </Button>
      )}
    </li>
  );
}
