import { endpoints } from '../../api/endpoints.ts';
import { type Command, defineCommand, option, type Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { writeReadyFiles } from '../../files/durable-file.ts';
import { untilAborted } from '../../pages/live-log.ts';
import type { PageInput } from '../../pages/show-address.ts';
import { views } from '../views.ts';

const uiCommand = defineCommand({
  words: ['ui'],
  summary: 'Look at the service on a local page',
  description:
    'Leaderboard, traders, webhooks and the calls in sotra history, each with the command and the curl line that give the same. With --sandbox\n' +
    'the sandbox is served on a free port meanwhile. Ctrl-C stops it. The key stays in this process; over ssh, forward the port of the\n' +
    'address: ssh -L 8000:127.0.0.1:<port>, then open it with port 8000.',
  params: {
    open: option.flag('open the page in the browser; otherwise its address is printed on stderr'),
    readyFile: option.text('write {ui, pid} here; ui is the address of the page'),
  },
  examples: [
    { argv: '--sandbox ui --open', says: 'click through the built-in world' },
    { argv: 'ui', says: 'the configured service' },
  ],
  uses: ['service'],
  exitCodes: [3, 4],
  run: showService,
});

async function showService(input: PageInput, context: Context): Promise<Result> {
  const service = await context.service();
  if (service.kind === 'sandbox') {
    const { startServed } = await import('../sandbox/start.ts');
    return startServed({ ...input, ui: true, port: 0 }, context);
  }
  await context.ready();
  context.stream();
  const { io, note, warn } = context;
  const [{ serveWeb }, { createOwnServiceApp }] = await Promise.all([
    import('../../pages/serve.ts'),
    import('../../pages/service-app.ts'),
  ]);
  const { app, close } = createOwnServiceApp(service, context, { endpoints, views });
  const page = await serveWeb({ apps: [app], warn });
  let removeReadyFiles = () => {};
  try {
    removeReadyFiles = writeReadyFiles([input.readyFile], { ui: page.url, pid: io.pid });
    note(`Shows ${service.baseUrl}. Ctrl-C stops it.`);
    await (await import('../../pages/show-address.ts')).showAddress(page, input, context);
    await untilAborted(io.signal);
  } finally {
    await Promise.all([page.close(), close()]);
    removeReadyFiles();
  }
  return { kind: 'none' };
}

export const commands: readonly Command[] = [uiCommand];
