import type { ModelInfo, ModelProbeInfo } from '@tendon/protocol';
import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
A probe sends the endpoint at most three short requests and reads its list of models. Agents use the findings for a week.
Works through the server of this home when one runs, else by itself.
Exit code: 0 done, 1 the model did not answer, 2 wrong usage.`;

export const modelsCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'models',
    description: 'show what the models in use can do, or probe an endpoint',
    help: HELP,
    open: async (config) => (await import('./models/models-client.ts')).openModelsClient(config),
  });

  add('list', 'what is known of the models in use (the default)').action((options: HomeOptions) =>
    carryOut(options, async (client) => {
      const models = await client.list();
      return { json: { models }, text: models.map(describe).join('\n') };
    }),
  );
  add('probe [model]', 'ask the endpoint of a model what it can do (default: the model in use)').action(
    (model: string | undefined, options: HomeOptions) =>
      carryOut(options, async (client) => {
        const found = await client.probe(model);
        return { json: found, text: describeProbe(found), code: found.failure === null ? EXIT.done : EXIT.failed };
      }),
  );
};

function describe({ model, use, ...info }: ModelInfo): string {
  return [`${printable(model)}${use === null || use === 'main' ? '' : ` (${use})`}`, ...factsOf(info)].join('\n  ');
}

function describeProbe({ failure, tokens, cost_usd: cost, ...info }: ModelProbeInfo): string {
  const price = cost > 0 ? `, $${cost.toFixed(4)}` : '';
  const spent = `The probe took ${tokens} tokens${price}.`;
  return failure === null ? `${describe(info)}\n${spent}` : `${printable(info.model)} was not probed: ${printable(failure)}`;
}

type Facts = Omit<ModelInfo, 'model' | 'use'>;

function factsOf({ tools, parallel_calls: parallel, images, streaming, context_window: size }: Facts): readonly string[] {
  return [
    `tools      ${answerTo(tools, parallel === false ? 'yes, one at a time' : 'yes', 'no: calls are written as text')}`,
    `pictures   ${answerTo(images, 'yes', 'no: they are left out')}`,
    `streaming  ${answerTo(streaming, 'yes', 'no')}`,
    `window     ${size === null ? 'not known' : `${size.toLocaleString('en')} tokens`}`,
  ];
}

function answerTo(value: boolean | null, yes: string, no: string): string {
  return value === null ? 'not known' : value ? yes : no;
}
