import type { Context } from '../../context.ts';
import { plannedAddress, showPlan } from '../../lib/output/confirm.ts';
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
    .changes()
    .example('--sandbox ui --open', 'explore the built-in data')
    .example('ui', 'the configured service')
    .run(showService);
}

async function showService(input: PageInput, context: Context): Promise<Result> {
  const service = await context.config.service();
  if (service.kind === 'http' && context.options.dryRun)
    return showPlan([{ action: 'serve', what: `a page about ${service.baseUrl}`, detail: plannedAddress() }]);
  if (service.kind === 'http') return (await import('./service-routes.ts')).serveOwnPage(service, input, context);
  const { startServed } = await import('../sandbox/start.ts');
  return startServed({ ...input, ui: true, port: 0 }, context);
}
