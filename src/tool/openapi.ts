import { type Command, defineCommand, outlineCommand } from '../cli/command.ts';
import { endpointCommand } from '../cli/endpoint-command.ts';
import { readInput } from '../cli/input.ts';
import { parse } from '../cli/parse.ts';
import type { Context } from '../context.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { type AnyEndpoint, endpoints, views } from '../resources/index.ts';
import { presets, servedSandboxUrl } from '../setup/settings.ts';

const openApiCommand: Command = defineCommand({
  words: ['openapi'],
  summary: "Print the service's interface as an OpenAPI 3.1 document",
  description:
    'x-source marks each parameter: spec (interface document), public (public fact) or assumed (a choice of this tool).\n' +
    'With --context or --base-url the document names that server, and the names that the context overrides.',
  params: {},
  examples: [
    { argv: 'openapi', says: 'the whole interface' },
    { argv: 'openapi --base-url https://api.example.com', says: 'for one deployment' },
  ],
  uses: ['service', 'json'],
  exitCodes: [3],
  run: async (_, context) => {
    const { namedShapes, openApiDocument } = await import('../contract/openapi.ts');
    const sampled = new Map(
      await Promise.all(endpoints.map(async (endpoint) => [endpoint.id, await readSamples(endpoint)] as const)),
    );
    const document = openApiDocument(endpoints, {
      ...(await target(context)),
      shared: namedShapes,
      samples: ({ id }) => sampled.get(id as AnyEndpoint['id']) ?? {},
    });
    return { kind: 'answer', answer: document };
  },
});

async function target(context: Context) {
  const { sandbox, baseUrl, context: name } = context.options;
  if (sandbox || baseUrl !== undefined || name !== undefined) {
    const service = await context.service();
    if (service.kind === 'http') return { servers: [{ url: service.baseUrl }], wire: service.wire };
  }
  const stored = Object.entries(presets).flatMap(([preset, { baseUrl: url }]) =>
    url === undefined ? [] : [{ url, description: `preset ${preset}` }],
  );
  return { servers: [{ url: servedSandboxUrl, description: 'sotra sandbox start' }, ...stored], wire: {} };
}

/** The inputs of an endpoint's examples: of each the first value, of a body those of one example, which belong together. */
async function readSamples(endpoint: Endpoint): Promise<Record<string, unknown>> {
  const command = endpointCommand(endpoint, views[endpoint.id as keyof typeof views]);
  const outline = await outlineCommand(command);
  const found: Record<string, unknown> = {};
  for (const { argv } of endpoint.examples) {
    try {
      const parsed = await parse(argv.split(' '), { outlines: [outline] });
      if (parsed.kind !== 'run') continue;
      const input = Object.entries(readInput(outline.fields, command, parsed.typed));
      const isFirst = Object.keys(found).length === 0;
      const fitting = input.filter(([key]) => isFirst || endpoint.params[key]?.place !== 'body');
      Object.assign(found, { ...Object.fromEntries(fitting), ...found });
    } catch {
      // An example of a command that takes more than its endpoint.
    }
  }
  return found;
}

export const commands: readonly Command[] = [openApiCommand];
