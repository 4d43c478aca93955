import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/late.tsx';
import { count } from '../../copy/counts.ts';
import { localServers } from './local-models.ts';
import { useModel } from './use-model.ts';

/** Model servers that answer on the server's machine; one is used only when a person says so. */
export function LocalWay() {
  const offered = useQuery(modelsQuery);
  const use = useModel();
  if (offered.isPending) return <Late>Looking for model servers</Late>;
  const [found] = localServers(offered.data ?? []);
  if (!found) {
    return (
      <>
        <p className="text-ink-2">Nothing yet: Ollama, LM Studio, vLLM</p>
        <div className="guide-act">
          <Button look="line" disabled={offered.isFetching} onClick={() => void offered.refetch()}>
            {offered.isFetching ? 'Looking' : 'Look again'}
          </Button>
        </div>
      </>
    );
  }
  const [model] = found.models;
  return (
    <>
      <p className="truncate text-ink-2">
        {found.name}, {count(found.models.length, 'model')}, {found.address}
      </p>
      <div className="guide-act">
        <Button look="line" onClick={() => use.mutate({ llm_model: model!, llm_base_url: '' })}>
          <span className="truncate">Use {model!.slice(model!.indexOf('/') + 1)}</span>
        </Button>
      </div>
      {use.isError && (
        <p role="alert" className="pt-1 text-small text-bad">
          {use.error.message}
        </p>
      )}
    </>
  );
}
