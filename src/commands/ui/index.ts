import type { Context } from '../../context.ts';
import { untilAborted } from '../../lib/io.ts';
import type { Result } from '../../lib/output/view.ts';
import type { PageInput } from '../../pages/serve.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';

export function setUp(ui: Command): void {
  ui.description(
    'Serves a local page with the calls in the history, a leaderboard and webhooks. The API key stays in this process.\n' +
      'With --sandbox, the sandbox is served on a free port. Ctrl-C stops it.\n' +
      'Over SSH, forward the port of the address: ssh -L 8000:127.0.0.1:<port>, then open it with port 8000.',
  )
    .params({
      open: option.flag('open the page in the browser (default: print its address)'),
      readyFile: option.text('write {ui, pid} to this file once the page is served'),
    })
    .example('--sandbox ui --open', 'explore the built-in data')
    .example('ui', 'the configured service')
    .run(showService);
}

async function showService(input: PageInput, context: Context): Promise<Result> {
  const service = await context.config.service();
  if (service.kind === 'sandbox') {
    const { startServed } = await import('../sandbox/start.ts');
    return startServed({ ...input, ui: true, port: 0 }, context);
  }
  await context.client.requireKey();
  context.stream();
  const { io, note, warn } = context;
  const [{ writeReadyFiles }, { createLiveLog }, { servePage }, { createActivityApp }, { openOwnService }] =
    await Promise.all([
      import('../../lib/files/durable-file.ts'),
      import('../../pages/live-log.ts'),
      import('../../pages/serve.ts'),
      import('../../pages/activity-app.ts'),
      import('./service-routes.ts'),
    ]);
  const live = createLiveLog();
  const { source, routes, facts, close } = await openOwnService(service, context, live);
  const page = await servePage(createActivityApp({ facts, sources: [source], live }, routes), warn);
  let removeReadyFiles = () => {};
  try {
    removeReadyFiles = writeReadyFiles([input.readyFile], { ui: page.url, pid: io.pid });
    note(`Showing ${service.baseUrl}. Ctrl-C stops it.`);
    await (await import('../../pages/serve.ts')).showAddress(page, input, context);
    await untilAborted(io.signal);
  } finally {
    await Promise.all([page.close(), close()]);
    removeReadyFiles();
  }
  return { kind: 'none' };
}
