import type { Context } from '../../context.ts';
import type { Command } from '../command.ts';

export function setUp(openapi: Command): void {
  openapi
    .description(
      'x-source says where a parameter is known from: spec (the interface document), public (the public API) or assumed.\n' +
        'With --context or --base-url, the document has the URL of that service and its own parameter names.',
    )
    .example('openapi', 'the whole interface')
    .example('openapi --base-url https://api.example.com', 'for one deployment')
    .prints()
    .run(async (_, context) => {
      const [{ endpoints }, { namedShapes, openApiDocument }] = await Promise.all([
        import('../../api/endpoints.ts'),
        import('../../api/openapi.ts'),
      ]);
      const document = await openApiDocument(endpoints, { ...(await findTarget(context)), shared: namedShapes });
      return { kind: 'answer', answer: document };
    });
}

async function findTarget(context: Context) {
  const { sandbox, baseUrl, context: name } = context.options;
  if (sandbox || baseUrl !== undefined || name !== undefined) {
    const service = await context.config.service();
    if (service.kind === 'http') return { servers: [{ url: service.baseUrl }], wire: service.wire };
  }
  const { presets, servedSandboxUrl } = await import('../../lib/config/config.ts');
  const stored = Object.entries(presets).flatMap(([preset, { baseUrl: url }]) =>
    url === undefined ? [] : [{ url, description: `preset ${preset}` }],
  );
  return { servers: [{ url: servedSandboxUrl, description: 'sotra sandbox start' }, ...stored], wire: {} };
}
