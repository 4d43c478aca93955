import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
JSON Schema (draft 2020-12): each event as any server of OpenHands 0.15 to 0.62 or Tendon sends it, and each body of the REST routes.
Swift: the same as Codable types, for Foundation alone.  tendon schema --swift > Tendon.swift`;

export const schemaCommand: AddCommand = (program, end) => {
  program
    .command('schema')
    .description('print the types of events and REST bodies, for clients in other languages')
    .option('--swift', 'as Swift instead of JSON Schema')
    .addHelpText('after', HELP)
    .action(async ({ swift }: { readonly swift?: boolean }) => {
      const { wireSchema } = await import('./schema/wire-schema.ts');
      const { swiftFile } = await import('./schema/swift-types.ts');
      const schema = wireSchema();
      const text = swift ? swiftFile(schema) : `${JSON.stringify(schema, undefined, 2)}\n`;
      // The text is longer than a pipe takes at once, and the reader may stop early.
      process.stdout.once('error', () => undefined);
      await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
      end(EXIT.done);
    });
};
