import { useMutation, useQuery } from '@tanstack/react-query';
import { saveBlob } from '../../lib/save-blob.ts';
import { tendon } from '../../lib/server.ts';
import { whoAmIQuery } from '../../lib/who-am-i.ts';
import { Button } from '../../ui/button.tsx';
import { t } from '../../lib/language/text.ts';

/** Downloads the data of the signed-in user. Hidden if nobody is signed in. */
export function OwnData() {
  const { data: me } = useQuery(whoAmIQuery);
  const save = useMutation({ mutationFn: async (id: string) => saveBlob(await tendon.users.export(id), `user-${id}.zip`) });
  const user = me?.user;
  if (!user) return null;
  return (
    <p className="flex flex-wrap items-center gap-2">
      <Button look="line" isBusy={save.isPending} onClick={() => save.mutate(user.id)}>
        {t('Export my data')}
      </Button>
      {save.error && (
        <span role="alert" className="tone-bad">
          {save.error.message}
        </span>
      )}
    </p>
  );
}
