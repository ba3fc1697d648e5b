import type { Endpoint } from './api/endpoint.ts';
import type { Command } from './cli/command.ts';
import { referenceCommands } from './commands/reference.ts';
import { sandboxCommands } from './commands/sandbox.ts';
import { type AnyEndpoint, endpoints, views } from './resources/index.ts';

/** Exit codes that any command speaking to the service can end with. */
const serviceExitCodes = [4, 5, 6, 7, 8, 9, 13, 130];

function endpointCommand(endpoint: AnyEndpoint): Command {
  const { id, method, path, source, summary, description, deprecated, params, examples }: Endpoint = endpoint;
  const view = views[endpoint.id];
  return {
    words: id.split('.'),
    summary,
    ...(description === undefined ? {} : { description }),
    params,
    endpoint: { method, path, source, ...(deprecated === undefined ? {} : { deprecated }) },
    examples: examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
    exitCodes: serviceExitCodes,
    view,
    run: async (input, context) => {
      const { data, text } = await context.call(endpoint as Endpoint, input);
      return { kind: 'answer', answer: data, text, view: await view() };
    },
  };
}

/** Every command, in the order of help: one an endpoint, then those about the tool itself. */
export const commands: readonly Command[] = [
  ...endpoints.map(endpointCommand),
  ...sandboxCommands,
  ...referenceCommands(() => commands),
];
