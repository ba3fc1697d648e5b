import { endpoints } from '../../api/endpoints.ts';
import { type Command, defineCommand } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { presets, servedSandboxUrl } from '../../setup/settings.ts';

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
    const { namedShapes, openApiDocument } = await import('../../api/openapi.ts');
    const document = await openApiDocument(endpoints, { ...(await target(context)), shared: namedShapes });
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

export const commands: readonly Command[] = [openApiCommand];
